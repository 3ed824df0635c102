#pragma once

#include "aggregator/model_servers/model_input.hpp"
#include "aggregator/model_servers/served_model.hpp"
#include "aggregator/predict/curve.hpp"
#include "common/error.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The question for a model's whole curve, and its answer: the texts of both protocols over REST. Pure.
namespace binnacle::model_servers {

/// Asks a model for its watts at evenly spaced loads, from idle to all cores busy, with the present values of
/// all other inputs. Nodes with the same model, size and inputs share one question.
struct question {
  served_model model;
  double cores = 0;  ///< of the node
  double top = 100;  ///< the CPU input with all cores busy: 100 (percent), 1 (a share), or the cores
  std::array<double, 3> others{};  ///< the inputs after CPU, rounded so that they seldom change
  std::uint8_t count = 2;          ///< of `others`
  std::uint8_t assumed = 0;        ///< bit i: nobody measures others[i], so a typical value stands for it

  friend auto operator<=>(const question&, const question&) = default;
};

/// Models made of decision trees have steps, and a hundred points show steps of one percent.
inline constexpr std::size_t points = predict::curve::most_points;

/// The inputs of the point numbered `i`: the load, and `count` of `others`.
std::array<double, 4> inputs_at(const question& q, std::size_t i);

/// The body that asks for `count` points from the one numbered `first` on. `input`: of a V2 model.
std::string body_of(const question& q, std::size_t first, std::size_t count, const model_input& input = {});

/// What a model answers.
struct model_answer {
  /// Longer versions are cut to this many bytes, since one is kept for each question and each model.
  static constexpr std::size_t longest_version = 64;

  std::vector<double> watts;
  std::string version;  ///< of the model that answered; empty, if the server does not say it
};

/// Reads a body that came with status 200. Errors: protocol, if the body does not answer the question;
/// unsupported, if it has too few values, as from a model that takes fewer loads at once; invalid_input, if
/// the model's answer is not a number. Each is a clause.
result<model_answer> answer_in(protocol speaks, std::string_view body, std::size_t count);

/// The server's reason for a refusal, in any of its forms ({"error"}, {"detail"} or plain text), shortened.
std::string refusal_in(std::string_view body);

/// Makes the curve from the watts. Where they fall with rising load, the earlier value is used. Errors:
/// invalid_input, a clause, for watts that no server draws: not above 0, beyond 100 kW, falling far, or
/// hardly higher at half load than at idle.
result<predict::curve> curve_of(const std::vector<double>& watts, double cores);

}  // namespace binnacle::model_servers
