package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/** Makes small differentiable programs of float64 from a seed. */
final class RandomPrograms {
    private static final long MOST_ELEMENTS = 120;

    final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private final Graph graph;
    private final Random random;
    private final boolean twice;
    private final List<Value> known = new ArrayList<>();
    private final List<Value> inputs = new ArrayList<>();

    /** Only operations whose gradients have gradients, if asked for. */
    RandomPrograms(Graph graph, long seed, boolean twice) {
        this.graph = graph;
        this.random = new Random(seed);
        this.twice = twice;
        long[][] shapes = {{2, 3}, {2, 3}, {3, 2}};
        for (int i = 0; i < shapes.length; i++) {
            inputs.add(input("x" + i, shapes[i]));
        }
        known.addAll(inputs);
    }

    List<Value> inputs() {
        return inputs;
    }

    private Value input(String name, long... dims) {
        Value value = graph.data(name, FLOAT64, dims).wantGradient();
        int count = Math.toIntExact(LongStream.of(dims).reduce(1, Math::multiplyExact));
        feeds.put(name, Tensor.of(FLOAT64, random.doubles(count, -1.2, 1.2).toArray(), dims));
        return value;
    }

    /** A scalar that depends on all variables that were made. */
    Value loss(int operations) {
        for (int i = 0; i < operations; i++) {
            Value made = twice ? twiceDifferentiable() : differentiable();
            if (count(made) <= MOST_ELEMENTS && count(made) > 0) {
                known.add(made);
            }
        }
        Value loss = null;
        for (Value each : known.subList(Math.max(0, known.size() - 4), known.size())) {
            Value part = each.tanh().times(0.5 + random.nextDouble()).mean();
            loss = loss == null ? part : loss.plus(part);
        }
        for (Value input : inputs) {
            Value part = input.tanh().times(random.nextDouble()).sum();
            loss = loss == null ? part : loss.plus(part);
        }
        if (loss == null) {
            throw new IllegalStateException("A program has inputs");
        }
        return loss;
    }

    private static long count(Value value) {
        return value.shape().stream().reduce(1L, Math::multiplyExact);
    }

    private Value any() {
        return known.get(random.nextInt(known.size()));
    }

    private Value anyOfRank(int least) {
        List<Value> some = known.stream().filter(value -> value.rank() >= least).toList();
        return some.get(random.nextInt(some.size()));
    }

    private int axis(Value value) {
        return random.nextInt(value.rank());
    }

    private Value differentiable() {
        return switch (random.nextInt(12)) {
            case 0, 1 -> unary(any());
            case 2, 3 -> binary();
            case 4 -> product();
            case 5 -> reduction(anyOfRank(1));
            case 6 -> reordered(anyOfRank(2));
            case 7 -> joined(anyOfRank(1));
            case 8 -> part(anyOfRank(1));
            case 9 -> normalised(anyOfRank(2));
            case 10 -> indexed(anyOfRank(2));
            default -> repeated(anyOfRank(2));
        };
    }

    private Value twiceDifferentiable() {
        return switch (random.nextInt(6)) {
            case 0 -> any().tanh();
            case 1 -> any().square();
            case 2 -> any().sigmoid();
            case 3 -> product();
            case 4 -> {
                Value x = any();
                yield random.nextBoolean() ? x.plus(same(x)) : x.times(same(x));
            }
            default -> {
                Value x = anyOfRank(2);
                yield switch (random.nextInt(4)) {
                    case 0 -> x.transpose(1, 0);
                    case 1 -> x.sum(1);
                    case 2 -> x.mean(0);
                    default -> x.minus(same(x)).times(1.5);
                };
            }
        };
    }

    private Value unary(Value x) {
        List<UnaryOperator<Value>> functions = List.of(Value::tanh, Value::sigmoid, Value::sin, Value::cos,
                Value::softplus, Value::silu,
                Value::square, Value::gelu, Value::erf, Value::relu, Value::abs, Value::mish, v -> v.elu(0.7),
                v -> v.leakyRelu(0.2),
                v -> v.tanh().exp(), v -> v.square().plus(0.5).log(), v -> v.square().plus(0.5).sqrt(),
                v -> v.square().plus(0.5).rsqrt(),
                v -> v.square().plus(1).reciprocal(), v -> v.clip(-0.9, 0.8), v -> v.square().plus(0.4).pow(1.5),
                Value::hardSwish,
                v -> v.times(-1.3).plus(0.2), Value::negate, v -> v.minus(0.25), v -> v.dividedBy(1.7), Value::assign);
        return functions.get(random.nextInt(functions.size())).apply(x);
    }

    /** A value of that shape. */
    private Value same(Value x) {
        List<Value> some = known.stream().filter(value -> value.shape().equals(x.shape())).toList();
        return some.get(random.nextInt(some.size()));
    }

    private Value binary() {
        Value x = any();
        Value y = switch (random.nextInt(3)) {
            case 0 -> x.rank() == 0 ? x : x.sum(0);
            case 1 -> x.rank() == 0 ? x : x.meanKeeping(axis(x));
            default -> same(x);
        };
        return switch (random.nextInt(6)) {
            case 0 -> x.plus(y);
            case 1 -> x.minus(y);
            case 2 -> x.times(y);
            case 3 -> x.dividedBy(y.square().plus(0.7));
            case 4 -> x.max(y.times(0.9).plus(0.01));
            default -> x.min(y.times(0.9).plus(0.01));
        };
    }

    private Value product() {
        Value x = anyOfRank(2);
        Value y = anyOfRank(2);
        if (x.rank() == 2 && y.rank() == 2) {
            for (boolean first : new boolean[]{false, true}) {
                for (boolean second : new boolean[]{true, false}) {
                    if (x.dim(first ? 0 : 1) == y.dim(second ? 1 : 0)) {
                        return x.matmul(y, first, second);
                    }
                }
            }
        }
        return x.matmul(x, false, true);
    }

    private Value reduction(Value x) {
        int axis = axis(x);
        return switch (random.nextInt(9)) {
            case 0 -> x.sum(axis);
            case 1 -> x.mean(axis);
            case 2 -> x.sumKeeping(axis);
            case 3 -> x.max(axis);
            case 4 -> x.min(axis);
            case 5 -> x.prod(axis);
            case 6 -> x.logSumExp(axis);
            case 7 -> x.norm(2, axis);
            default -> x.mean();
        };
    }

    private Value reordered(Value x) {
        int last = x.rank() - 1;
        return switch (random.nextInt(7)) {
            case 0 -> x.reshape(-1);
            case 1 -> x.rank() == 2 ? x.transpose(1, 0) : x.flatten(1);
            case 2 -> x.unsqueeze(1);
            case 3 -> x.unsqueeze(0).squeeze(0);
            case 4 -> x.flip(last);
            case 5 -> x.roll(1, last);
            default -> x.reshape((int) x.dim(0), -1);
        };
    }

    private Value joined(Value x) {
        int axis = axis(x);
        return switch (random.nextInt(4)) {
            case 0 -> graph.concat(axis, x, same(x));
            case 1 -> graph.concat(axis, x, same(x), x);
            case 2 -> graph.stack(axis, x, same(x));
            default -> graph.addAll(x, same(x), x);
        };
    }

    private Value part(Value x) {
        int axis = axis(x);
        int length = Math.toIntExact(x.dim(axis));
        if (length < 2) {
            return x.cumSum(axis);
        }
        return switch (random.nextInt(5)) {
            case 0 -> x.slice(axis, 1, length);
            case 1 -> x.get(axis, -1);
            case 2 -> x.split(length, axis).get(random.nextInt(length));
            case 3 -> x.cumSum(axis);
            default -> {
                List<Value> parts = x.unstack(axis);
                yield parts.getFirst().times(parts.getLast());
            }
        };
    }

    private Value normalised(Value x) {
        return switch (random.nextInt(4)) {
            case 0 -> x.softmax(-1);
            case 1 -> x.softmax(0);
            case 2 -> x.logSoftmax(-1);
            default -> {
                long width = x.dim(-1);
                Value scale = input("scale" + feeds.size(), width);
                Value bias = input("bias" + feeds.size(), width);
                inputs.add(scale);
                inputs.add(bias);
                yield graph.op("layer_norm").in("X", x).in("Scale", scale).in("Bias", bias).attr("epsilon", 1e-3f)
                        .attr("begin_norm_axis", x.rank() - 1).all("Mean", "Variance", "Y").getLast();
            }
        };
    }

    private Value indexed(Value x) {
        int axis = axis(x);
        long length = x.dim(axis);
        Value indexes = graph.constant(Tensor.of(INT64, random.longs(4, 0, length).asDoubleStream().toArray(), 4));
        return switch (random.nextInt(4)) {
            case 0 -> x.gather(indexes, axis);
            case 1 -> x.topK(1, axis).getFirst();
            case 2 -> x.sort(axis, true).getFirst();
            default -> graph.where(same(x).greaterThan(0.1), x, x.square());
        };
    }

    private Value repeated(Value x) {
        int[] times = new int[x.rank()];
        Arrays.fill(times, 1);
        times[axis(x)] = 2;
        int[] wide = new int[x.rank() + 1];
        Arrays.fill(wide, -1);
        wide[0] = 2;
        return switch (random.nextInt(3)) {
            case 0 -> x.tile(times);
            case 1 -> x.unsqueeze(0).expand(wide);
            default -> x.triangle(true, 0);
        };
    }
}
