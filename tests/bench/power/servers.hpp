#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Servers that simulated fleets are made of.
namespace binnacle::bench {

struct server {
  std::string name;
  double cores = 0;
  std::vector<double> watts;  ///< at evenly spaced loads from idle to full
};

/// Eight servers of 2019 to 2021: watts at active idle, 10, 20 … 100 % of SPECpower_ssj2008, published
/// results of these test dates. SPEC is a trademark; the curves are inputs here, not a comparison of vendors.
/// Load there is throughput, which is close to CPU use on these machines.
std::span<const server> spec_servers();

/// Two servers of 96 CPUs as WAO's authors modelled them (waok8s/optimization, Apache-2.0: the edge models of
/// Lenovo and Supermicro at 25 °C and 2 Pa), read at 0.1, 5, 10, 20 … 100 % and joined by straight lines: at
/// 0, 5, 10 … 100 %.
const server& wao_lenovo();
const server& wao_supermicro();

/// Servers that nobody has: `many` of 16 to 128 cores, with curves of the kinds that published ones have: a
/// step when they leave idle, or none, then flat or steep, straight or bent, some with a steep end. The same
/// for the same seed. For fleets that no rule was tuned to.
std::vector<server> made_up_servers(std::size_t many, std::uint64_t seed);

}  // namespace binnacle::bench
