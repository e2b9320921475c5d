package io.seriatim.onnx;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Generates random programs that overwrite the variables that they are fed: by assignments, operations in place and
 * increments, in branches and loops, also as the variables and the limits of loops. All numbers are small integers, so
 * that every system computes the same bits.
 */
final class OverwrittenFeeds {
    private static final int WIDTH = 3;

    private final Graph g;
    private final Random random;
    /** The matrices that can be overwritten: x and y, which are fed, and temporary ones. */
    private final List<Value> matrices = new ArrayList<>();
    /** The counters that can be overwritten: n and m, which are fed. */
    private final List<Value> counters = new ArrayList<>();
    /** The conditions that can be overwritten: b, which is fed. */
    private final List<Value> flags = new ArrayList<>();
    private final List<Value> results = new ArrayList<>();

    private OverwrittenFeeds(Graph g, Random random) {
        this.g = g;
        this.random = random;
    }

    /** The names of what each program is fed. */
    static final List<String> FEEDS = List.of("x", "y", "n", "m", "b");

    /** A program that is fed {@link #FEEDS}. Its outputs are named o0, o1 and so on. */
    static Network of(long seed) {
        return Network.define(g -> new OverwrittenFeeds(g, new Random(seed)).define());
    }

    /** The feeds of a run. */
    static Map<String, Tensor> feeds(long seed, int run) {
        Random random = new Random(31 * seed + run);
        int rows = 1 + random.nextInt(3);
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        for (String name : List.of("x", "y")) {
            feeds.put(name, Tensor.of(FLOAT32, random.ints((long) rows * WIDTH, -4, 5).asDoubleStream().toArray(), rows,
                    WIDTH));
        }
        for (String name : List.of("n", "m")) {
            feeds.put(name, Tensor.of(new long[]{random.nextInt(4)}, 1));
        }
        feeds.put("b", Tensor.of(BOOL, new double[]{random.nextInt(2)}, 1));
        return feeds;
    }

    private Outputs define() {
        matrices.add(g.data("x", FLOAT32, -1, WIDTH));
        matrices.add(g.data("y", FLOAT32, -1, WIDTH));
        counters.add(g.data("n", INT64, 1));
        counters.add(g.data("m", INT64, 1));
        flags.add(g.data("b", BOOL, 1));
        statements(4 + random.nextInt(6), 0);
        List<Value> all = new ArrayList<>(matrices);
        all.addAll(counters);
        all.addAll(flags);
        all.addAll(results);
        List<Object> outputs = new ArrayList<>();
        for (Value each : all) {
            // Some programs fetch only a few variables, so that other operations are not needed.
            if (outputs.isEmpty() || random.nextInt(3) > 0) {
                outputs.add("o" + outputs.size() / 2);
                outputs.add(random.nextInt(8) == 0 ? each : each.assign());
            }
        }
        Outputs named = Outputs.of((String) outputs.get(0), (Value) outputs.get(1));
        for (int i = 2; i < outputs.size(); i += 2) {
            named = named.and((String) outputs.get(i), (Value) outputs.get(i + 1));
        }
        return named;
    }

    private void statements(int count, int depth) {
        for (int i = 0; i < count; i++) {
            statement(depth);
        }
    }

    private void statement(int depth) {
        switch (random.nextInt(depth < 2 ? 16 : 9)) {
            case 0 -> assign(expression(), any(matrices));
            case 1 -> inPlace(any(matrices));
            case 2 -> increment();
            case 3 -> assign(number(), any(counters));
            case 4 -> add(any(matrices), any(matrices), any(matrices));
            case 5 -> assign(any(matrices), any(matrices));
            case 6, 7 -> read(depth);
            case 8 -> setFlag();
            case 9, 10 -> branch(depth);
            case 11, 12 -> counted(depth);
            case 13 -> untilLimit(depth);
            case 14 -> whileFlag(depth);
            default -> fedVariables(depth);
        }
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private void assign(Value from, Value to) {
        if (!from.equals(to)) {
            g.op("assign").in("X", from).to("Out", to).append();
        }
    }

    private void inPlace(Value value) {
        switch (random.nextInt(3)) {
            case 0 -> g.op("scale").in("X", value).attr("scale", -1f).attr("bias", 1f).attr("bias_after_scale", true)
                    .to("Out", value).append();
            case 1 -> g.op("relu").in("X", value).to("Out", value).append();
            default -> g.op("elementwise_max").in("X", value).in("Y", any(matrices)).to("Out", value).append();
        }
    }

    private void add(Value a, Value b, Value to) {
        g.op("elementwise_add").in("X", a).in("Y", b).to("Out", to).append();
        g.op("clip").in("X", to).attr("min", -50f).attr("max", 50f).to("Out", to).append();
    }

    private void increment() {
        Value counter = any(counters);
        g.op("increment").in("X", counter).attr("step", 1f).to("Out", counter).append();
    }

    /** A matrix of small integers that depends on one or two others. */
    private Value expression() {
        Value a = any(matrices);
        Value b = any(matrices);
        return switch (random.nextInt(5)) {
            case 0 -> a.plus(b).clip(-50, 50);
            case 1 -> a.minus(b).clip(-50, 50);
            case 2 -> a.times(2).plus(1).clip(-50, 50);
            case 3 -> a.max(b);
            default -> a.plus(any(counters).cast(FLOAT32)).clip(-50, 50);
        };
    }

    /** A counter from 0 to 4. */
    private Value number() {
        Value a = any(counters);
        return random.nextBoolean() ? a.plus(1).clip(0, 4) : g.full(INT64, random.nextInt(3), 1);
    }

    /** A value that stays what a variable was at this place of the program. */
    private void read(int depth) {
        Value now = random.nextBoolean() ? expression() : any(matrices).times(1);
        if (depth == 0) {
            results.add(now);
            if (random.nextBoolean()) {
                matrices.add(now.times(1));
            }
        } else {
            assign(now, any(matrices));
        }
    }

    private void setFlag() {
        if (!flags.isEmpty()) {
            assign(random.nextBoolean() ? flags.getFirst().not() : condition(), flags.getFirst());
        }
    }

    private Value condition() {
        if (!flags.isEmpty() && random.nextInt(3) == 0) {
            // A branch may overwrite the flag itself.
            return flags.getFirst().assign();
        }
        return random.nextBoolean()
                ? any(counters).greaterThan(random.nextInt(3))
                : any(matrices).sum().greaterThan(random.nextInt(5)).reshape(1);
    }

    private void branch(int depth) {
        Value condition = condition();
        if (random.nextBoolean()) {
            Value chosen = g.ifElse(condition, () -> {
                statements(1 + random.nextInt(2), depth + 1);
                return expression();
            }, () -> {
                statements(random.nextInt(2), depth + 1);
                return expression();
            });
            assign(chosen, any(matrices));
        } else {
            Value other = any(matrices);
            // The other branch does nothing.
            g.ifElse(condition, () -> {
                statements(1 + random.nextInt(3), depth + 1);
                return other.times(1);
            }, () -> other.times(1));
        }
    }

    /** A loop with a counter of its own, whose body overwrites any variables. */
    private void counted(int depth) {
        Value limit = random.nextBoolean() ? any(counters).clip(0, 4) : g.full(INT64, random.nextInt(4), 1);
        g.whileLoop(v -> List.of(v.getFirst().lessThan(limit)), v -> {
            statements(1 + random.nextInt(3), depth + 1);
            return List.of(v.getFirst().plus(1));
        }, g.full(INT64, 0, 1));
    }

    /** A loop whose counter is a variable that is fed. */
    private void untilLimit(int depth) {
        if (counters.size() < 2) {
            increment();
            return;
        }
        Value counter = any(counters);
        List<Value> others = new ArrayList<>(counters);
        counters.remove(counter);
        Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(3)), v -> {
            statements(1 + random.nextInt(2), depth + 1);
            return List.of(v.getFirst().plus(1));
        }, counter).getFirst();
        counters.clear();
        counters.addAll(others);
        if (!end.equals(counter)) {
            assign(end, counter);
        }
    }

    /** A loop whose condition is a variable that is fed. */
    private void whileFlag(int depth) {
        if (flags.isEmpty()) {
            increment();
            return;
        }
        Value flag = flags.removeFirst();
        Value limit = any(counters).clip(0, 3);
        Value end = g.whileLoop(v -> List.of(v.get(1)), v -> {
            statements(1 + random.nextInt(2), depth + 1);
            Value next = v.getFirst().plus(1);
            return List.of(next, next.lessThan(limit));
        }, g.full(INT64, 0, 1), flag).get(1);
        flags.add(flag);
        assign(end, flag);
    }

    /** A loop whose variables are variables that are fed. */
    private void fedVariables(int depth) {
        Value a = any(matrices);
        Value b = any(counters);
        Value limit = any(counters).clip(0, 3);
        List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(limit)), v -> {
            Value next = v.get(1).times(2).plus(v.get(2).cast(FLOAT32)).clip(-50, 50);
            if (random.nextBoolean()) {
                statements(1, depth + 1);
            }
            return List.of(v.getFirst().plus(1), next, v.get(2).plus(1).clip(0, 4));
        }, g.full(INT64, 0, 1), a, b);
        if (depth == 0) {
            results.add(end.get(1).times(1));
        }
    }
}
