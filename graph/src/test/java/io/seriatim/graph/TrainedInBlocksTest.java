package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Parameters that only branches, loops and recurrent networks use are trained, whatever the carried variables start
 * with.
 */
class TrainedInBlocksTest {
    private static final long SEED = 41;

    private static Value steps(Graph g, double count) {
        return g.full(INT64, count, 1);
    }

    @Test
    void loopThatStartsWithAConstant() {
        ParameterCheck.check("loop from a constant", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 3);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().matmul(p.parameter(0)).tanh().plus(p.parameter(1))),
                    steps(g, 0), g.full(FLOAT64, 0.5, 2, 2)).getLast().sum();
        });
    }

    @Test
    void loopThatStartsWithWhatIsFed() {
        ParameterCheck.check("loop from a feed", SEED, 1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 3);
            Value x = p.feed("x", 2, 2);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().matmul(p.parameter(0)).tanh()), steps(g, 0), x)
                    .getLast().sum();
        });
    }

    /** The second variable learns of the parameter only through the first, and the third through the second. */
    @Test
    void variablesThatDependOnOneAnother() {
        ParameterCheck.check("variables in a chain", SEED, 1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 4);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).times(0.5).plus(p.parameter(0)),
                            v.get(1).sin().plus(v.get(2)),
                            v.get(2).tanh().plus(v.get(3).times(0.3))),
                    steps(g, 0), g.full(FLOAT64, 1, 2, 2), g.full(FLOAT64, 2, 2, 2), g.full(FLOAT64, 3, 2, 2)).getLast()
                    .sum();
        });
    }

    @Test
    void loopInLoopThatStartWithConstants() {
        ParameterCheck.check("loop in loop from constants", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value inner = g.whileLoop(u -> List.of(u.getFirst().lessThan(last)),
                        u -> List.of(u.getFirst().plus(1), u.getLast().times(v.getLast()).plus(p.parameter(1)).sin()),
                        steps(g, 0),
                        g.full(FLOAT64, 0.1, 2, 2)).getLast();
                return List.of(v.getFirst().plus(1), inner.matmul(p.parameter(0)).tanh());
            }, steps(g, 0), g.full(FLOAT64, 0.5, 2, 2)).getLast().sum();
        });
    }

    @Test
    void branchInLoopThatStartsWithAConstant() {
        ParameterCheck.check("branch in loop from a constant", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 4);
            Value two = steps(g, 2);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value h = v.getLast();
                Value twice = h.times(2);
                return List.of(v.getFirst().plus(1),
                        g.ifElse(v.getFirst().lessThan(two), () -> twice.plus(p.parameter(0)).tanh(),
                                () -> twice.times(p.parameter(1)).sin()));
            }, steps(g, 0), g.full(FLOAT64, 0.5, 2, 2)).getLast().sum();
        });
    }

    /** The gradient of the product reads the first value, which the loop must leave alone. */
    @Test
    void firstValueThatAGradientReads() {
        for (boolean fed : new boolean[]{true, false}) {
            ParameterCheck.check("first value is read before, fed " + fed, SEED, 2, p -> {
                Graph g = p.graph();
                Value last = steps(g, 2);
                Value first = fed ? p.feed("x", 2, 2) : g.full(FLOAT64, 0.7, 2, 2);
                Value before = first.times(p.parameter(0)).sum();
                return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                        v -> List.of(v.getFirst().plus(1), v.getLast().times(3).plus(p.parameter(1))), steps(g, 0),
                        first).getLast().sum()
                        .plus(before);
            });
        }
    }

    /** The gradient of a selection reads the index, which counts on in the loop. */
    @Test
    void indexThatAGradientReads() {
        ParameterCheck.check("index is read before", SEED, 1, p -> {
            Graph g = p.graph();
            Value i = steps(g, 0);
            Value row = p.parameter(0).gather(i, 0).sum();
            Value last = steps(g, 1);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().plus(1)), i,
                    g.full(FLOAT64, 1, 1)).getLast().sum().plus(row);
        });
    }

    @Test
    void firstValueWhoseGradientIsStopped() {
        ParameterCheck.check("first value is stopped", SEED, 2, List.of(0), p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            Value first = p.parameter(0).times(2).stopGradient();
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().times(p.parameter(1))), steps(g, 0), first).getLast()
                    .sum();
        });
    }

    /** A variable that is stopped within a step stays stopped. */
    @Test
    void stoppedInAStep() {
        ParameterCheck.check("stopped in a step", SEED, 2, List.of(1), p -> {
            Graph g = p.graph();
            Value last = steps(g, 1);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value still = v.getLast().times(p.parameter(1)).stopGradient();
                return List.of(v.getFirst().plus(1), still.plus(p.parameter(0)));
            }, steps(g, 0), g.full(FLOAT64, 0.5, 2, 2)).getLast().sum();
        });
    }

    @Test
    void outerVariableThatAStepWrites() {
        ParameterCheck.check("a step writes an outer variable", SEED, 1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 3);
            Value total = g.full(FLOAT64, 0, 2, 2);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                g.op("sum").in("X", total, p.parameter(0).square()).to("Out", total).append();
                return List.of(v.getFirst().plus(1));
            }, steps(g, 0));
            return total.sum();
        });
    }

    @Test
    void constantThatIsWrittenOver() {
        ParameterCheck.check("a constant is written over", SEED, 1, p -> {
            Graph g = p.graph();
            Value total = g.full(FLOAT64, 0, 2, 2);
            g.op("sum").in("X", total, p.parameter(0).square()).to("Out", total).append();
            return total.sum();
        });
    }

    @Test
    void listWhoseFirstElementIsAConstant() {
        ParameterCheck.check("list that begins with a constant", SEED, 1, p -> {
            Graph g = p.graph();
            Value list = g.op("write_to_array").in("X", g.full(FLOAT64, 1, 2, 2)).in("I", steps(g, 0)).one("Out");
            g.op("write_to_array").in("X", p.parameter(0).square()).in("I", steps(g, 1)).to("Out", list).append();
            return g.op("tensor_array_to_tensor").in("X", list).all("Out", "OutIndex").getFirst().sum();
        });
    }

    @Test
    void listThatALoopWrites() {
        ParameterCheck.check("list that a loop writes", SEED, 1, p -> {
            Graph g = p.graph();
            Value list = g.op("write_to_array").in("X", g.full(FLOAT64, 1, 2, 2)).in("I", steps(g, 0)).one("Out");
            Value last = steps(g, 3);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value next = v.getFirst().plus(1);
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                g.op("write_to_array").in("X", before.times(p.parameter(0)).sin()).in("I", next).to("Out", list)
                        .append();
                return List.of(next);
            }, steps(g, 0));
            return g.op("tensor_array_to_tensor").in("X", list).all("Out", "OutIndex").getFirst().sum();
        });
    }

    @Test
    void outerVariableThatABranchWrites() {
        for (boolean taken : new boolean[]{true, false}) {
            ParameterCheck.check("a branch writes an outer variable, taken " + taken, SEED, 2,
                    taken ? List.of(1) : List.of(0), p -> {
                        Graph g = p.graph();
                        Value total = g.full(FLOAT64, 0, 2, 2);
                        Value chosen = g.ifElse(p.flag("c", taken), () -> {
                            g.op("sum").in("X", total, p.parameter(0).square()).to("Out", total).append();
                            return g.full(FLOAT64, 1, 1);
                        }, () -> {
                            g.op("sum").in("X", total, p.parameter(1).sin()).to("Out", total).append();
                            return g.full(FLOAT64, 2, 1);
                        });
                        return total.sum().times(chosen).sum();
                    });
        }
    }

    @Test
    void parametersAsSequenceAndState() {
        ParameterCheck.check("parameters as sequence and state", SEED, 3, p -> {
            Graph g = p.graph();
            Value first = p.parameter(1).sum(0);
            return g.staticRnn(rnn -> {
                Value step = rnn.step(p.parameter(0));
                Value state = rnn.state(first);
                Value next = state.times(step).plus(p.parameter(2).sum(0)).tanh();
                rnn.update(state, next);
                rnn.output(next);
            }).getFirst().sum();
        });
    }

    @Test
    void recurrentNetworkThatStartsWithAConstant() {
        ParameterCheck.check("recurrent network from a constant", SEED, 1, p -> {
            Graph g = p.graph();
            Value sequence = p.feed("x", 3, 2);
            Value first = g.full(FLOAT64, 0, 2);
            return g.staticRnn(rnn -> {
                Value step = rnn.step(sequence);
                Value state = rnn.state(first);
                Value next = state.plus(step).times(p.parameter(0).sum(0)).tanh();
                rnn.update(state, next);
                rnn.output(next);
            }).getFirst().sum();
        });
    }

    @Test
    void loopsOneAfterTheOther() {
        ParameterCheck.check("two loops over one variable", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            Value first = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().plus(0.5)), steps(g, 0), g.full(FLOAT64, 0.5, 2, 2))
                    .getLast();
            Value read = first.times(p.parameter(1)).sum();
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().times(p.parameter(0))), steps(g, 0), first).getLast()
                    .sum().plus(read);
        });
    }

    @Test
    void loopThatIsNotEntered() {
        ParameterCheck.check("loop without a step", SEED, 1, List.of(0), p -> {
            Graph g = p.graph();
            Value last = steps(g, 0);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().plus(p.parameter(0))), steps(g, 0),
                    g.full(FLOAT64, 0.5, 2, 2)).getLast()
                    .sum();
        });
    }

    @Test
    void loopThatStartsWithAParameter() {
        ParameterCheck.check("loop from a parameter", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().times(p.parameter(1)).plus(p.parameter(0))),
                    steps(g, 0),
                    p.parameter(0)).getLast().sum();
        });
    }

    @Test
    void sequencesInLoops() {
        ParameterCheck.check("recurrent network in a loop", SEED, 2, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value carried = v.getLast().times(1.5);
                Value first = g.full(FLOAT64, 0, 2);
                Value out = g.staticRnn(rnn -> {
                    Value step = rnn.step(carried);
                    Value state = rnn.state(first);
                    Value next = state.times(p.parameter(0).sum(0)).plus(step).plus(p.parameter(1).sum(1)).tanh();
                    rnn.update(state, next);
                    rnn.output(next);
                }).getFirst();
                return List.of(v.getFirst().plus(1), out);
            }, steps(g, 0), g.full(FLOAT64, 0.5, 2, 2)).getLast().sum();
        });
    }

    @Test
    void constantTensorAsFirstValue() {
        ParameterCheck.check("loop from given numbers", SEED, 1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            Value first = g.constant(Tensor.of(FLOAT64, new double[]{1, 2, 3, 4}, 2, 2));
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.getLast().matmul(p.parameter(0))), steps(g, 0), first)
                    .getLast().sum();
        });
    }

    /** No gradient flows to a value that is overwritten without having been read. */
    @Test
    void valueThatIsOverwritten() {
        ParameterCheck.check("a value is overwritten", SEED, 2, List.of(0), p -> {
            Graph g = p.graph();
            Value h = p.parameter(0).times(2);
            g.op("assign").in("X", p.parameter(1).square()).to("Out", h).append();
            return h.sum();
        });
        ParameterCheck.check("a value is read, and overwritten", SEED, 2, p -> {
            Graph g = p.graph();
            Value h = p.parameter(0).times(2);
            Value read = h.plus(h).sum();
            g.op("assign").in("X", p.parameter(1).square()).to("Out", h).append();
            return h.times(3).sum().plus(read).plus(h.sum());
        });
        ParameterCheck.check("a value is overwritten by a constant", SEED, 2, List.of(0), p -> {
            Graph g = p.graph();
            Value h = p.parameter(0).times(2);
            g.op("assign").in("X", p.feed("x", 2, 2)).to("Out", h).append();
            return h.times(p.parameter(1)).sum();
        });
    }

    @Test
    void valueThatABranchOverwrites() {
        for (boolean taken : new boolean[]{true, false}) {
            ParameterCheck.check("a branch overwrites a value, taken " + taken, SEED, 3,
                    taken ? List.of(0) : List.of(1), p -> {
                        Graph g = p.graph();
                        Value h = p.parameter(0).times(2);
                        Value chosen = g.ifElse(p.flag("c", taken), () -> {
                            g.op("assign").in("X", p.parameter(1).square()).to("Out", h).append();
                            return p.parameter(2);
                        }, () -> p.parameter(2).tanh());
                        return h.sum().plus(chosen.sum());
                    });
        }
    }

    @Test
    void valueThatAStepOverwritesByWhatIsStopped() {
        ParameterCheck.check("a step overwrites a value", SEED, 2, List.of(0), p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            Value h = p.parameter(0).times(2);
            Value still = p.feed("x", 2, 2);
            List<Value> results = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), still, v.get(2).plus(p.parameter(1))), steps(g, 0), h,
                    g.full(FLOAT64, 0, 2, 2));
            return results.get(1).plus(results.get(2)).sum();
        });
    }

    @Test
    void stepThatWritesOutsideOfARecurrentNetwork() {
        String message = refused(1, p -> {
            Graph g = p.graph();
            Value sequence = p.feed("x", 3, 2);
            Value total = g.full(FLOAT64, 0, 2);
            return g.staticRnn(rnn -> {
                Value step = rnn.step(sequence);
                g.op("sum").in("X", total, step).to("Out", total).append();
                rnn.output(step);
            }).getFirst().sum();
        });
        assertTrue(message.contains("writes 'fill_constant_1.tmp_0' (operation 'sum'), which was made outside of it"),
                message);
    }

    private static String refused(int count, Function<ParameterCheck, Value> loss) {
        return String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> ParameterCheck.check("overwritten", SEED, count, loss)).getMessage());
    }

    /** An error is thrown instead of a wrong gradient. */
    @Test
    void valueThatAGradientReadsAndAnOperationOverwrites() {
        String output = refused(2, p -> {
            Value h = p.parameter(0).tanh();
            p.graph().op("assign").in("X", p.parameter(1).square()).to("Out", h).append();
            return h.sum();
        });
        assertTrue(
                output.startsWith("The gradient of operation 'square'")
                        || output.startsWith("The gradient of operation 'tanh'"),
                output);
        assertTrue(output.contains("reads 'tanh_0.tmp_0', which operation 'assign'"), output);
        String input = refused(2, p -> {
            Value h = p.parameter(0).times(2);
            Value read = h.times(p.parameter(1)).sum();
            p.graph().op("assign").in("X", p.parameter(1)).to("Out", h).append();
            return h.sum().plus(read);
        });
        assertTrue(input.contains("reads 'tmp_0', which operation 'assign'"), input);
        String inPlace = refused(1, p -> {
            Graph g = p.graph();
            Value h = g.full(FLOAT64, 2, 2, 2);
            g.op("elementwise_mul").in("X", h).in("Y", p.parameter(0)).to("Out", h).append();
            return h.sum();
        });
        assertTrue(inPlace.contains("operation 'elementwise_mul'"), inPlace);
        String branch = refused(2, p -> {
            Graph g = p.graph();
            Value h = p.parameter(0).times(2);
            Value chosen = g.ifElse(p.flag("c", true), () -> h.square().sum(), () -> p.parameter(1).sum());
            g.op("assign").in("X", p.parameter(1)).to("Out", h).append();
            return h.sum().plus(chosen);
        });
        assertTrue(branch.contains("operation 'conditional_block'"), branch);
        String step = refused(1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 2);
            Value total = g.full(FLOAT64, 1, 2, 2);
            Value sum = g.full(FLOAT64, 0, 2, 2);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                g.op("sum").in("X", total, p.parameter(0)).to("Out", total).append();
                g.op("sum").in("X", sum, total.square()).to("Out", sum).append();
                return List.of(v.getFirst().plus(1));
            }, steps(g, 0));
            return sum.sum();
        });
        assertTrue(step.contains("operation 'square'") && step.contains("which operation 'sum'"), step);
    }

    /**
     * Variables that a step reads before it writes them are kept for the gradient, and so are results of in-place
     * operations if their gradient reads them.
     */
    @Test
    void writesThatDoNoHarm() {
        ParameterCheck.check("a step reads, then writes", SEED, 1, p -> {
            Graph g = p.graph();
            Value last = steps(g, 3);
            Value total = g.full(FLOAT64, 1, 2, 2);
            Value sum = g.full(FLOAT64, 0, 2, 2);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                g.op("sum").in("X", sum, total.square()).to("Out", sum).append();
                g.op("sum").in("X", total, p.parameter(0)).to("Out", total).append();
                return List.of(v.getFirst().plus(1));
            }, steps(g, 0));
            return sum.sum();
        });
        ParameterCheck.check("in place", SEED, 1, p -> {
            Value h = p.parameter(0).times(2);
            p.graph().op("tanh").in("X", h).to("Out", h).append();
            return h.sum();
        });
        ParameterCheck.check("shapes only", SEED, 2, p -> {
            Graph g = p.graph();
            Value h = g.full(FLOAT64, 2, 2, 2);
            g.op("elementwise_add").in("X", h).in("Y", p.parameter(0)).to("Out", h).append();
            g.op("elementwise_sub").in("X", h).in("Y", p.parameter(1)).to("Out", h).append();
            return h.sum();
        });
    }
}
