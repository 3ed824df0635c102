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
  std::size_t count = 1;      ///< how many a fleet has of it
};

/// Eight servers of 2019 to 2021: watts at active idle, 10, 20 … 100 % of SPECpower_ssj2008, from published
/// results with these test dates. SPEC is a trademark; the curves serve as inputs here, not to compare
/// vendors. The load of this benchmark is throughput, which is close to CPU use on these machines.
std::span<const server> spec_servers();

/// Two servers of 96 CPUs as WAO's authors modelled them (waok8s/optimization, Apache-2.0: the edge models of
/// Lenovo and Supermicro at 25 °C and 2 Pa). The models were read at 0.1, 5, 10, 20 … 100 %, and straight
/// lines join the points: the watts here are at 0, 5, 10 … 100 %.
const server& wao_lenovo();
const server& wao_supermicro();

/// Made-up servers: `many` of them, of 16 to 128 cores, with the kinds of curves that published servers have:
/// with or without a step when they leave idle, then flat or steep, straight or bent, some with a steep end.
/// One seed always gives the same servers.
std::vector<server> made_up_servers(std::size_t many, std::uint64_t seed);

/// The same with curves that hardly any server has: up to 20 sections of chance, each of them flat, a step,
/// straight, concave or convex.
std::vector<server> odd_servers(std::size_t many, std::uint64_t seed);

}  // namespace binnacle::bench
