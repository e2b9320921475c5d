package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Generates random programs with branches, loops, lists and data-dependent shapes. Their feeds are x: float32[-1, 6]
 * and n: int64[1], a small number.
 */
final class RandomControlFlow {
    static final int WIDTH = 6;

    private final Graph g;
    private final Random random;
    private final Value n;
    private final boolean trains;

    private RandomControlFlow(Graph g, Random random, Value n, boolean trains) {
        this.g = g;
        this.random = random;
        this.n = n;
        this.trains = trains;
    }

    /** Returns a program whose outputs are a scalar, matrices, and a value with a data-dependent shape. */
    static Network of(long seed, boolean trains) {
        return Network.define(seed + 1, g -> {
            Random random = new Random(seed);
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            RandomControlFlow programs = new RandomControlFlow(g, random, g.data("n", INT64, 1), trains);
            List<Value> known = new ArrayList<>(
                    List.of(trains ? g.linear(x, WIDTH) : x.times(0.5), g.linear(x, WIDTH).tanh()));
            programs.add(known, 10 + random.nextInt(6), 0);
            Value last = known.getLast();
            Value other = known.get(random.nextInt(known.size()));
            Value loss = last.plus(other).tanh().mean();
            Value chosen = last.maskedSelect(last.greaterThan(0));
            if (trains) {
                g.minimize(loss.plus(g.linear(x, 1).mean()), Sgd.of(0.1));
            }
            return Outputs.of("loss", loss, "last", last, "chosen", chosen);
        });
    }

    private void add(List<Value> known, int count, int depth) {
        for (int i = 0; i < count; i++) {
            known.add(next(known, depth));
        }
    }

    private Value any(List<Value> known) {
        return known.get(random.nextInt(known.size()));
    }

    private Value next(List<Value> known, int depth) {
        Value a = any(known);
        Value b = any(known);
        return switch (random.nextInt(depth < 2 ? 17 : 10)) {
            case 0 -> a.plus(b).times(0.5);
            case 1 -> a.times(b).tanh();
            case 2 -> a.relu().minus(b.times(0.25));
            case 3 -> g.linear(a, WIDTH).tanh();
            case 4 -> a.max(b);
            case 5 -> a.softmax(-1);
            case 6 -> chosen(a);
            case 7 -> turned(a, b);
            case 8 -> overwritten(known, a, b);
            case 9 -> seenInOtherShapes(a, b);
            case 10, 11 -> branch(known, a, depth);
            case 12, 13 -> loop(known, a, b, depth);
            case 14 -> list(known, a, depth);
            case 15 -> growing(known, a, depth);
            default -> branches(known, a, b, depth);
        };
    }

    /** Builds the operations of a block and returns the last value. Values of the block are not visible outside. */
    private Value body(List<Value> outside, int depth, Value... own) {
        List<Value> known = new ArrayList<>(outside);
        known.addAll(List.of(own));
        add(known, 1 + random.nextInt(3), depth + 1);
        return known.getLast();
    }

    /** Selects the positive elements, whose number is known only at run time. */
    private Value chosen(Value a) {
        return a.plus(a.maskedSelect(a.greaterThan(0.1)).sum().times(0.01));
    }

    /** Reshapes a value to a computed shape. */
    private Value turned(Value a, Value b) {
        Value rows = b.shapeTensor().slice(0, 0, 1);
        Value shape = g.concat(0, g.full(INT32, WIDTH, 1), rows);
        Value turned = g.op("reshape2").in("X", a).in("Shape", shape).attr("shape", new int[]{WIDTH, -1})
                .all("Out", "XShape").getFirst();
        return turned.transpose(1, 0);
    }

    /** Operations that keep a shape for their gradient, between functions with which they are fused. */
    private Value seenInOtherShapes(Value a, Value b) {
        return switch (random.nextInt(3)) {
            case 0 -> a.plus(b).unsqueeze(1).tanh().squeeze(1);
            case 1 -> a.times(b).reshape(-1, 2, 3).transpose(0, 2, 1).reshape(-1, WIDTH);
            default -> g.linear(a, WIDTH).unsqueeze(2).relu().flatten(1);
        };
    }

    /** Overwrites a variable. If gradients need its first value, a copy is overwritten instead. */
    private Value overwritten(List<Value> known, Value a, Value b) {
        Value target = trains ? a.assign() : any(known);
        g.op("assign").in("X", a.plus(b).tanh()).to("Out", target).append();
        return target.plus(b);
    }

    private Value condition(Value a) {
        return switch (random.nextInt(3)) {
            case 0 -> a.mean().greaterThan(0.05);
            case 1 -> n.greaterThan(random.nextInt(3));
            default -> a.shapeTensor().slice(0, 0, 1).greaterThan(random.nextInt(1, 5));
        };
    }

    private Value branch(List<Value> known, Value a, int depth) {
        return g.ifElse(condition(a), () -> body(known, depth), () -> random.nextInt(4) == 0 ? a : body(known, depth));
    }

    private Value branches(List<Value> known, Value a, Value b, int depth) {
        List<Value> both = g.ifElseAll(condition(a), () -> List.of(body(known, depth), b),
                () -> List.of(a, body(known, depth)));
        return both.getFirst().minus(both.getLast());
    }

    private Value count() {
        return random.nextBoolean() ? n : g.full(INT64, random.nextInt(4), 1);
    }

    private Value loop(List<Value> known, Value a, Value b, int depth) {
        Value last = count();
        boolean two = random.nextBoolean();
        Value[] first = two
                ? new Value[]{g.full(INT64, 0, 1), a.times(1), b.plus(0.1)}
                : new Value[]{g.full(INT64, 0, 1), a.times(1)};
        List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
            List<Value> next = new ArrayList<>(List.of(v.getFirst().plus(1)));
            next.add(body(known, depth, v.get(1)).times(0.9).tanh());
            if (two) {
                next.add(random.nextBoolean() ? v.get(1) : v.get(2).times(0.5).plus(v.get(1)));
            }
            return next;
        }, first);
        return two ? end.get(1).plus(end.get(2)) : end.get(1);
    }

    /** Builds a list that a loop fills; reads one element and concatenates all. */
    private Value list(List<Value> known, Value a, int depth) {
        Value last = count();
        Value list = g.op("write_to_array").in("X", a).in("I", g.full(INT64, 0, 1)).one("Out");
        g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
            Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
            Value i = v.getFirst().plus(1);
            g.op("write_to_array").in("X", body(known, depth, before).plus(before).tanh()).in("I", i).to("Out", list)
                    .append();
            return List.of(i);
        }, g.full(INT64, 0, 1));
        Value first = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
        Value joined = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                .all("Out", "OutIndex")
                .getFirst();
        return first.plus(joined.mean(0));
    }

    /** Appends rows to a value in a loop. */
    private Value growing(List<Value> known, Value a, int depth) {
        Value last = count();
        Value rows = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                v -> List.of(v.getFirst().plus(1), g.concat(0, v.get(1), body(known, depth).meanKeeping(0))),
                g.full(INT64, 0, 1),
                a.times(1))
                .get(1);
        return a.plus(rows.meanKeeping(0));
    }
}
