package io.seriatim.executor.run;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Bodies of loops whose variables grow, run with wrong rules for what is moved instead of copied. The test runs the
 * loop's iterations itself, in frames that have these rules.
 */
@Timeout(60)
class MovedResultsTest {
    private static final int WIDTH = 6;
    private static final int ITERATIONS = 9;

    /** Rules for the moves of a plan. */
    private interface Rules {
        MovedResults of(CompiledPlan plan, AtomicInteger planted);
    }

    /** Each copy of a value is a move. */
    private static MovedResults unguarded(CompiledPlan plan, AtomicInteger planted) {
        MovedResults right = MovedResults.of(plan);
        boolean[] isMove = new boolean[plan.tasks().size()];
        boolean[] isMoved = new boolean[plan.values().size()];
        for (int i = 0; i < isMove.length; i++) {
            if (plan.tasks().get(i) instanceof Task.Interpreted task && task.reads().length == 1
                    && Operations.system().get(task.access().op().type()).isCopy()) {
                isMove[i] = true;
                isMoved[task.reads()[0]] = true;
                planted.addAndGet(right.isMove(i) ? 0 : 1);
            }
        }
        return new MovedResults(isMove, isMoved, new boolean[isMoved.length], new boolean[isMoved.length]);
    }

    /** What was moved is released as other temporaries are. */
    private static MovedResults released(CompiledPlan plan, AtomicInteger planted) {
        MovedResults right = MovedResults.of(plan);
        boolean[] isMove = new boolean[plan.tasks().size()];
        for (int i = 0; i < isMove.length; i++) {
            isMove[i] = right.isMove(i);
            planted.addAndGet(isMove[i] ? 1 : 0);
        }
        boolean[] none = new boolean[plan.values().size()];
        return new MovedResults(isMove, none, none, none);
    }

    private static Network loop(BiFunction<Graph, List<Value>, List<Value>> body) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end =
                    g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> body.apply(g, v), g.full(INT64, 0, 1),
                            x.times(1), x.times(2));
            return Outputs.of("a", end.get(1), "b", end.get(2));
        });
    }

    /** A variable that gets the value which the iteration has given another one. */
    private static Network twice() {
        return loop((g, v) -> {
            Value grown = g.concat(0, v.get(1), v.get(2).meanKeeping(0));
            g.op("assign").in("X", grown).to("Out", v.get(1)).append();
            g.op("assign").in("X", v.get(1)).to("Out", v.get(2)).append();
            return List.of(v.getFirst().plus(1), v.get(1), v.get(2));
        });
    }

    /** A variable that is read after its next value has been computed. */
    private static Network later() {
        return loop((g, v) -> {
            Value grown = g.concat(0, v.get(1), v.get(2).meanKeeping(0));
            return List.of(v.getFirst().plus(1), grown, v.get(2).times(0.5).plus(v.get(1).meanKeeping(0)));
        });
    }

    /** Returns what is wrong with the results; null if nothing is. */
    private static @Nullable String found(Network network, Rules rules, AtomicInteger planted) {
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Tensor x = Bits.normal(1, 2, WIDTH);
        Tensor n = Tensor.of(new long[]{ITERATIONS}, 1);
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), Executor.feeds("x", "n"), new Fetches(names));
            plan.run(x, n);
            Results expected = plan.run(x, n);
            try (Workspace<CompiledPlan, Frame> frames = new Workspace<>(Internals.options(executor).devices(), 64,
                    Frame::close)) {
                BlockSession session = Internals.interpreter(executor).session(network.main().global(),
                        Map.of("x", x, "n", n), 1, each -> body(executor, plan, each, frames, rules, planted));
                session.set("x", x);
                session.set("n", n);
                for (int i = 0; i < session.block().ops().size(); i++) {
                    session.run(i);
                }
                Tensor a = (Tensor) Objects.requireNonNull(session.find(names.getFirst()));
                Tensor b = (Tensor) Objects.requireNonNull(session.find(names.getLast()));
                if (a.buffer().equals(b.buffer())) {
                    return "two variables have one memory";
                }
                return Bits.same(expected.get(names.getFirst()), a) && Bits.same(expected.get(names.getLast()), b)
                        ? null
                        : "values differ";
            } catch (RuntimeException e) {
                return e.toString();
            }
        }
    }

    /** Runs an iteration as the executor does. */
    private static void body(Executor executor, Plan plan, BlockSession session,
            Workspace<CompiledPlan, Frame> frames, Rules rules, AtomicInteger planted) {
        int block = session.block().index();
        ValueNumbering accesses = Internals.accesses(plan, block);
        @Nullable
        Object[] externals = Arrays.stream(accesses.externals())
                .mapToObj(each -> session.find(accesses.values().get(each).name())).toArray();
        CompiledPlan compiled = Internals.compiled(plan, block, externals);
        Frame frame = frames.frame(compiled, compiled.memory().arenas(), arenas -> new Frame(compiled,
                Internals.options(executor), Internals.streams(executor), arenas, rules.of(compiled, planted)));
        frame.begin(new RunContext(externals, Internals.bindings(session, executor.scope()), () -> session,
                new Cancellation(), null, Internals.batches(), null, session.iteration()), null);
        try {
            new RunLoop.Serial().run(frame);
            for (int value : accesses.wanted()) {
                Object result = frame.share(value);
                if (result != null) {
                    session.set(accesses.values().get(value).name(), result);
                }
            }
        } finally {
            frame.end();
        }
    }

    @Test
    void rulesThatAreRightAreNotCaught() {
        for (Network network : List.of(twice(), later())) {
            assertNull(found(network, (plan, _) -> MovedResults.of(plan), new AtomicInteger()));
        }
    }

    @Test
    void aMoveOfWhatAnotherVariableKeepsIsCaught() {
        AtomicInteger planted = new AtomicInteger();
        assertEquals("two variables have one memory", found(twice(), MovedResultsTest::unguarded, planted));
        assertTrue(planted.get() > 0, "a copy was made a move");
    }

    @Test
    void theReleaseOfWhatWasMovedIsCaught() {
        AtomicInteger planted = new AtomicInteger();
        String found = found(later(), MovedResultsTest::released, planted);
        assertTrue(planted.get() > 0, "there is a move");
        assertTrue(found != null && found.contains("closed"), String.valueOf(found));
    }
}
