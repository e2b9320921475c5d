package io.seriatim.graph;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A network out of a seed: branches, loops, recurrences, lists and variables that are written over, nested in one
 * another, over matrices [2, 2]. It can be built with operations that run blocks, or unrolled into operations one after
 * the other, which gives the same numbers.
 */
final class RandomControlFlow {
    static final int PARAMETERS = 5;
    private static final int DEEPEST = 3;

    /** One step of a block; what it computes gets the next numbers. Numbers count all that a block sees. */
    private sealed interface Node {
    }

    private record Parameter(int index) implements Node {
    }

    private record Feed(int index) implements Node {
    }

    private record Constant(double value) implements Node {
    }

    private record Unary(int kind, int x) implements Node {
    }

    private record Binary(int kind, int x, int y) implements Node {
    }

    private record Stopped(int x) implements Node {
    }

    private record Branch(boolean taken, List<Node> then, int yes, List<Node> otherwise, int no) implements Node {
    }

    private record Loop(int steps, List<Integer> initial, List<Node> body, List<Integer> next) implements Node {
    }

    /** Over a sequence of some values, with one state. */
    private record Recurrence(List<Integer> sequence, int initial, List<Node> body, int next,
            int output) implements Node {
    }

    /** The sum of what the steps of a loop write into a list. */
    private record Listed(int steps, List<Node> body, int written) implements Node {
    }

    /** Adds to a variable that all blocks see. */
    private record Total(int x) implements Node {
    }

    private record ReadTotal() implements Node {
    }

    private final Random random;
    private final List<Node> nodes;
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private int feedCount;
    /** A recurrent network writes nothing outside of it. */
    private int recurrences;

    RandomControlFlow(long seed) {
        random = new Random(seed);
        nodes = new ArrayList<>();
        List<Integer> visible = new ArrayList<>();
        int end = block(nodes, visible, 0, 0, 4 + random.nextInt(5));
        // What is hidden by now has been overwritten.
        int x = visible.getLast();
        nodes.add(new ReadTotal());
        nodes.add(new Binary(0, x, end));
        for (int i = 0; i < PARAMETERS; i++) {
            feeds.put("p" + i, values());
        }
    }

    Map<String, Tensor> feeds() {
        return feeds;
    }

    private Tensor values() {
        return Tensor.of(FLOAT64, random.doubles(4, -0.9, 0.9).toArray(), 2, 2);
    }

    /** Fills a block; returns the number after its last value. */
    private int block(List<Node> into, List<Integer> visible, int from, int depth, int count) {
        int next = from;
        for (int i = 0; i < count || visible.isEmpty(); i++) {
            next = add(into, visible, next, depth);
        }
        return next;
    }

    private int one(List<Node> into, List<Integer> visible, int at, Node node) {
        into.add(node);
        visible.add(at);
        return at + 1;
    }

    private int any(List<Integer> visible) {
        return visible.get(random.nextInt(visible.size()));
    }

    private int add(List<Node> into, List<Integer> visible, int at, int depth) {
        int kind = visible.isEmpty() ? random.nextInt(3) : random.nextInt(depth < DEEPEST ? 18 : 11);
        return switch (kind) {
            case 0 -> one(into, visible, at, new Constant(random.nextInt(1, 9) / 8.0));
            case 1 -> one(into, visible, at, depth == 0 ? feed() : new Constant(0.75));
            case 2, 3 -> one(into, visible, at, new Parameter(random.nextInt(PARAMETERS)));
            case 4, 5 -> one(into, visible, at, new Unary(random.nextInt(4), any(visible)));
            case 6, 7, 8 -> one(into, visible, at, new Binary(random.nextInt(3), any(visible), any(visible)));
            case 9 -> random.nextInt(4) == 0
                    ? one(into, visible, at, new Stopped(any(visible)))
                    : one(into, visible, at, new Binary(2, any(visible), any(visible)));
            case 10 -> {
                if (random.nextInt(3) == 0) {
                    yield one(into, visible, at, new ReadTotal());
                }
                if (recurrences == 0) {
                    into.add(new Total(any(visible)));
                }
                yield at;
            }
            case 11, 12 -> branch(into, visible, at, depth);
            case 13, 14, 15 -> loop(into, visible, at, depth);
            case 16 -> recurrence(into, visible, at, depth);
            default -> listed(into, visible, at, depth);
        };
    }

    private Node feed() {
        feeds.put("f" + feedCount, values());
        return new Feed(feedCount++);
    }

    private int branch(List<Node> into, List<Integer> visible, int at, int depth) {
        List<Node> then = new ArrayList<>();
        List<Integer> thenSees = new ArrayList<>(visible);
        block(then, thenSees, at, depth + 1, random.nextInt(4));
        List<Node> otherwise = new ArrayList<>();
        List<Integer> otherwiseSees = new ArrayList<>(visible);
        block(otherwise, otherwiseSees, at, depth + 1, random.nextInt(4));
        return one(into, visible, at,
                new Branch(random.nextBoolean(), then, any(thenSees), otherwise, any(otherwiseSees)));
    }

    private int loop(List<Node> into, List<Integer> visible, int at, int depth) {
        List<Integer> initial = new ArrayList<>();
        int count = random.nextInt(1, 4);
        int begin = at;
        for (int i = 0; i < count; i++) {
            if (random.nextInt(3) == 0 && !visible.isEmpty()) {
                // A loop overwrites its variables: the first values are not read afterwards.
                int which = random.nextInt(visible.size());
                initial.add(visible.get(which));
                visible.subList(which, which + 1).clear();
            } else {
                into.add(random.nextInt(3) > 0 || depth > 0 ? new Constant(random.nextInt(1, 9) / 8.0) : feed());
                initial.add(begin++);
            }
        }
        List<Node> body = new ArrayList<>();
        List<Integer> sees = new ArrayList<>(visible);
        IntStream.range(begin, begin + count).forEach(sees::add);
        block(body, sees, begin + count, depth + 1, 1 + random.nextInt(4));
        List<Integer> next = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            next.add(any(sees));
        }
        into.add(new Loop(random.nextInt(8) == 0 ? 0 : random.nextInt(1, 4), initial, body, next));
        IntStream.range(begin, begin + count).forEach(visible::add);
        return begin + count;
    }

    private int recurrence(List<Node> into, List<Integer> visible, int at, int depth) {
        List<Integer> sequence = List.of(any(visible), any(visible), any(visible));
        int initial = any(visible);
        List<Node> body = new ArrayList<>();
        List<Integer> sees = new ArrayList<>(visible);
        sees.add(at);
        sees.add(at + 1);
        recurrences++;
        block(body, sees, at + 2, depth + 1, 1 + random.nextInt(3));
        recurrences--;
        return one(into, visible, at, new Recurrence(sequence, initial, body, any(sees), any(sees)));
    }

    private int listed(List<Node> into, List<Integer> visible, int at, int depth) {
        List<Node> body = new ArrayList<>();
        List<Integer> sees = new ArrayList<>(visible);
        block(body, sees, at, depth + 1, 1 + random.nextInt(3));
        return one(into, visible, at, new Listed(random.nextInt(1, 4), body, any(sees)));
    }

    /** Builds the network. Returns its loss. */
    Value build(Graph graph, boolean unrolled) {
        return new Build(graph, unrolled).loss();
    }

    private final class Build {
        private final Graph graph;
        private final boolean unrolled;
        private final List<Value> parameters = new ArrayList<>();
        private Value total;

        Build(Graph graph, boolean unrolled) {
            this.graph = graph;
            this.unrolled = unrolled;
            for (int i = 0; i < PARAMETERS; i++) {
                parameters.add(graph.parameter(ParameterSpec.DEFAULT.named("p" + i), FLOAT64, 2, 2));
            }
            total = graph.full(FLOAT64, 0.25, 2, 2);
        }

        Value loss() {
            return run(nodes, new ArrayList<>()).getLast().sum();
        }

        private List<Value> run(List<Node> block, List<Value> seen) {
            List<Value> values = new ArrayList<>(seen);
            for (Node node : block) {
                values.addAll(run(node, values));
            }
            return values;
        }

        private List<Value> run(Node node, List<Value> seen) {
            return switch (node) {
                case Parameter(int index) -> List.of(parameters.get(index));
                case Feed(int index) -> List.of(graph.data("f" + index, FLOAT64, 2, 2));
                case Constant(double value) -> List.of(graph.full(FLOAT64, value, 2, 2));
                case Unary(int kind, int x) -> List.of(unary(kind, seen.get(x)));
                case Binary(int kind, int x, int y) -> List.of(binary(kind, seen.get(x), seen.get(y)));
                case Stopped(int x) -> List.of(seen.get(x).times(0.9).stopGradient());
                case Branch branch -> List.of(branch(branch, seen));
                case Loop loop -> loop(loop, seen);
                case Recurrence recurrence -> List.of(recurrence(recurrence, seen));
                case Listed listed -> List.of(listed(listed, seen));
                case Total(int x) -> {
                    if (unrolled) {
                        total = graph.addAll(total, seen.get(x));
                    } else {
                        graph.op("sum").in("X", total, seen.get(x)).to("Out", total).append();
                    }
                    yield List.of();
                }
                // Whose gradient does not read what is written over.
                case ReadTotal() -> List.of(total.times(0.5));
            };
        }

        private static Value unary(int kind, Value x) {
            return switch (kind) {
                case 0 -> x.tanh();
                case 1 -> x.sin();
                case 2 -> x.square().times(0.5);
                default -> x.transpose(1, 0);
            };
        }

        private static Value binary(int kind, Value x, Value y) {
            return switch (kind) {
                case 0 -> x.plus(y);
                case 1 -> x.times(y).tanh();
                default -> x.matmul(y).sin();
            };
        }

        private Value branch(Branch branch, List<Value> seen) {
            if (unrolled) {
                return branch.taken()
                        ? run(branch.then(), seen).get(branch.yes())
                        : run(branch.otherwise(), seen).get(branch.no());
            }
            Value flag = graph.constant(Tensor.of(BOOL, new double[]{branch.taken() ? 1 : 0}, 1));
            return graph.ifElse(flag, () -> run(branch.then(), seen).get(branch.yes()),
                    () -> run(branch.otherwise(), seen).get(branch.no()));
        }

        private List<Value> loop(Loop loop, List<Value> seen) {
            List<Value> carried = new ArrayList<>(loop.initial().stream().map(seen::get).toList());
            if (unrolled) {
                for (int step = 0; step < loop.steps(); step++) {
                    carried = step(loop.body(), seen, carried, loop.next());
                }
                return carried;
            }
            Value last = graph.full(INT64, loop.steps(), 1);
            carried.add(graph.full(INT64, 0, 1));
            List<Value> results = graph.whileLoop(v -> List.of(v.getLast().lessThan(last)), v -> {
                List<Value> next = new ArrayList<>(step(loop.body(), seen, v.subList(0, v.size() - 1), loop.next()));
                next.add(v.getLast().plus(1));
                return next;
            }, carried.toArray(Value[]::new));
            return results.subList(0, results.size() - 1);
        }

        private List<Value> step(List<Node> body, List<Value> seen, List<Value> carried, List<Integer> next) {
            List<Value> values = new ArrayList<>(seen);
            values.addAll(carried);
            List<Value> all = run(body, values);
            return next.stream().map(all::get).toList();
        }

        private Value recurrence(Recurrence recurrence, List<Value> seen) {
            List<Value> sequence = recurrence.sequence().stream().map(seen::get).toList();
            if (unrolled) {
                Value state = seen.get(recurrence.initial());
                List<Value> outputs = new ArrayList<>();
                for (Value each : sequence) {
                    List<Value> values = step(recurrence.body(), seen, List.of(each, state),
                            List.of(recurrence.next(), recurrence.output()));
                    state = values.getFirst();
                    outputs.add(values.getLast());
                }
                return graph.addAll(outputs.toArray(Value[]::new));
            }
            Value stacked = graph.stack(0, sequence.toArray(Value[]::new));
            return graph.staticRnn(rnn -> {
                Value part = rnn.step(stacked);
                Value state = rnn.state(seen.get(recurrence.initial()));
                List<Value> values = step(recurrence.body(), seen, List.of(part, state),
                        List.of(recurrence.next(), recurrence.output()));
                rnn.update(state, values.getFirst());
                rnn.output(values.getLast());
            }).getFirst().sum(0);
        }

        private Value listed(Listed listed, List<Value> seen) {
            if (unrolled) {
                Value sum = graph.full(FLOAT64, 0.5, 2, 2);
                for (int step = 0; step < listed.steps(); step++) {
                    sum = sum.plus(run(listed.body(), seen).get(listed.written()));
                }
                return sum;
            }
            Value list = graph.op("write_to_array").in("X", graph.full(FLOAT64, 0.5, 2, 2))
                    .in("I", graph.full(INT64, 0, 1)).one("Out");
            Value last = graph.full(INT64, listed.steps(), 1);
            graph.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value next = v.getFirst().plus(1);
                graph.op("write_to_array").in("X", run(listed.body(), seen).get(listed.written())).in("I", next)
                        .to("Out", list).append();
                return List.of(next);
            }, graph.full(INT64, 0, 1));
            return graph.op("tensor_array_to_tensor").in("X", list).attr("use_stack", true).all("Out", "OutIndex")
                    .getFirst().sum(0);
        }
    }
}
