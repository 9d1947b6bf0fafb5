#include "kernels/compression/sign_code.hpp"

#include "kernels/device/lane_words.cuh"
#include "models/base/error.hpp"
#include "tests/kernels/compression/sign_code_properties.hpp"

namespace windtunnel {
namespace {

TEST(SignCode, SignsAndErrorsAreThoseOfTheDefinition) {
  expect_signs_of_all_inputs(DeviceKind::cpu);
}

TEST(SignCode, MajorityIsThatOfACount) {
  expect_votes(DeviceKind::cpu);
}

TEST(SignCode, ZeroIsPositiveAndNanNegative) {
  const Floats x = {0.0F, -0.0F, std::numeric_limits<float>::quiet_NaN(), 1e-45F, -1e-45F};
  EXPECT_EQ(plain_signs(x)[0], 0b01011U);
  expect_packs_and_unpacks(DeviceKind::cpu, x);
}

// Scales are means of magnitudes. What is sent and the error that is kept add up to the signal, and
// the error is smaller than the signal.
TEST(SignCode, SentAndKeptIsWhatThereWas) {
  RandomStream random(1, RandomPurpose::test, 0);
  const Floats gradient = random_floats(random, 4096);
  const DeviceArray<float> input(DeviceKind::cpu, gradient);
  const DeviceArray<float> error(DeviceKind::cpu, gradient.size());
  const DeviceArray<float> sent(DeviceKind::cpu, gradient.size());
  const DeviceArray<std::uint32_t> words(DeviceKind::cpu, sign_words(gradient.size()));
  const DeviceArray<double> sums(DeviceKind::cpu, 2);
  const SignCode& kernels = sign_code(DeviceKind::cpu);
  kernels.magnitude(input.data(), error.data(), gradient.size(), sums.data());
  kernels.error(input.data(), gradient.size(), sums.data(), error.data(), words.data(),
                sums.data() + 1);
  kernels.unpack(words.data(), gradient.size(), sums.data(), sent.data());
  double before = 0, after = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(error.data()[i] + sent.data()[i], gradient[i], 1e-6);
    before += gradient[i] * gradient[i];
    after += error.data()[i] * error.data()[i];
  }
  EXPECT_NEAR(after / before, 1 - 2 / M_PI, 0.03);  // of a Gaussian
}

// Runs the CUDA form's exchanges between 8 lanes (nibbles) and between 4 lanes (bytes) on the host.
TEST(SignCode, ExchangesTransposeCodes) {
  RandomStream random(2, RandomPurpose::test, 0);
  for (const unsigned lanes : {4U, 8U}) {
    const unsigned bits = 32 / lanes;
    const std::uint32_t mask = (1U << bits) - 1;
    Words before(lanes);
    for (std::uint32_t& word : before) word = static_cast<std::uint32_t>(random.below(1ULL << 32));
    Words words = before;
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      const Words now = words;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        words[lane] =
            exchanged(now[lane], now[lane ^ distance], (lane & distance) != 0, distance * bits);
      }
    }
    for (unsigned row = 0; row < lanes; ++row) {
      for (unsigned column = 0; column < lanes; ++column) {
        EXPECT_EQ(words[row] >> (column * bits) & mask, before[column] >> (row * bits) & mask);
      }
    }
  }
}

TEST(SignCode, RefusesWhatCannotBe) {
  const DeviceArray<std::uint32_t> words(DeviceKind::cpu, 8);
  const DeviceArray<float> x(DeviceKind::cpu, 8);
  EXPECT_THROW(sign_code(DeviceKind::cpu).vote(words.data(), 0, 1, words.data() + 4),
               InternalError);
  EXPECT_THROW(sign_code(DeviceKind::cpu).pack(x.data() + 1, 1, words.data()), InternalError);
}

}  // namespace
}  // namespace windtunnel
