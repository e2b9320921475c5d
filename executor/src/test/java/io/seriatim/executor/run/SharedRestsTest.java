package io.seriatim.executor.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Plans of what follows late sizes are shared if all that they are made for is the same. */
class SharedRestsTest {
    private static final Network NETWORK = Network.define(1,
            g -> Outputs.of("y", g.data("x", DType.FLOAT32, -1, 2).tanh().sigmoid()));

    private final List<Made> closed = new ArrayList<>();
    private final SharedRests<Made> rests = new SharedRests<>(made -> made.bytes, closed::add);
    private long bytes = 1;

    /** A plan, which differs from all others. */
    private static final class Made {
        final long bytes;

        Made(long bytes) {
            this.bytes = bytes;
        }
    }

    private static Task.Rest task(List<Integer> operations, Map<String, Tensor> constants) {
        String y = NETWORK.outputs().get("y").name();
        ValueNumbering block = ValueNumbering.rest(NETWORK.main().global(), operations, List.of("x"), List.of(y));
        int[] externals = new int[block.externals().length];
        Task.Rest.Part part =
                new Task.Rest.Part(block, constants, externals, externals, new int[1], 1, new int[0]);
        return new Task.Rest(block.operations(), List.of(part), 1, new int[0], new int[0], new int[1], -1, List.of());
    }

    private RestPlans<Made> hold(int depth, List<Integer> operations, Map<String, Tensor> constants) {
        return rests.hold(task(operations, constants), depth, (_, _) -> new Made(bytes));
    }

    private RestPlans<Made> hold(int depth) {
        return hold(depth, List.of(0, 1), Map.of());
    }

    private static Made plan(RestPlans<Made> plans) {
        return plans.all().getFirst();
    }

    @Test
    void theSameOperationsAndConstantsShareAPlan() {
        Made plan = plan(hold(1, List.of(0, 1), Map.of("n", Tensor.of(new long[]{3}, 1))));
        assertSame(plan, plan(hold(1, List.of(0, 1), Map.of("n", Tensor.of(new long[]{3}, 1)))));
        assertNotSame(plan, plan(hold(1, List.of(0, 1), Map.of("n", Tensor.of(new long[]{4}, 1)))));
        assertNotSame(plan, plan(hold(1, List.of(0, 1), Map.of("n", Tensor.of(DType.INT32, new long[]{3}, 1)))));
        assertNotSame(plan, plan(hold(1, List.of(0, 1), Map.of("m", Tensor.of(new long[]{3}, 1)))));
        assertNotSame(plan, plan(hold(1, List.of(1), Map.of("n", Tensor.of(new long[]{3}, 1)))));
        assertNotSame(plan, plan(hold(2, List.of(0, 1), Map.of("n", Tensor.of(new long[]{3}, 1)))));
    }

    @Test
    void floatsAreComparedByTheirBits() {
        Made zero = plan(hold(1, List.of(0, 1), Map.of("c", Tensor.of(new float[]{0f, Float.NaN}, 2))));
        assertSame(zero, plan(hold(1, List.of(0, 1), Map.of("c", Tensor.of(new float[]{0f, Float.NaN}, 2)))));
        assertNotSame(zero, plan(hold(1, List.of(0, 1), Map.of("c", Tensor.of(new float[]{-0f, Float.NaN}, 2)))));
    }

    @Test
    void aPlanThatIsReleasedByAllIsKeptAWhile() {
        RestPlans<Made> one = hold(1);
        RestPlans<Made> two = hold(1);
        rests.release(one, false);
        rests.release(two, false);
        assertEquals(List.of(), closed);
        assertSame(plan(one), plan(hold(1)));
    }

    /** What is held does not count. */
    @Test
    void ofManyThatNothingHoldsThoseReleasedFirstAreClosed() {
        List<RestPlans<Made>> all = new ArrayList<>();
        for (int depth = 0; depth < 520; depth++) {
            all.add(hold(depth));
        }
        all.subList(0, 515).forEach(each -> rests.release(each, false));
        assertEquals(all.subList(0, 3).stream().map(SharedRestsTest::plan).toList(), closed);
        assertEquals(517, rests.all().size());
        assertNotSame(plan(all.get(0)), plan(hold(0)));
    }

    @Test
    void largePlansThatNothingHoldsAreClosed() {
        bytes = 40L << 20;
        RestPlans<Made> one = hold(1);
        RestPlans<Made> two = hold(2);
        rests.release(one, false);
        assertEquals(List.of(), closed);
        rests.release(two, false);
        assertEquals(List.of(plan(one)), closed);
    }

    /** A run that had begun before may have compiled a plan for sizes once more. */
    @Test
    void aSecondReleaseClosesOnlyWhatIsNoLongerKept() {
        RestPlans<Made> one = hold(1);
        hold(1);
        rests.release(one, false);
        rests.release(one, true);
        assertEquals(List.of(), closed);
        RestPlans<Made> other = hold(2);
        rests.release(other, false);
        rests.clear();
        assertEquals(List.of(plan(other)), closed);
        rests.release(other, true);
        assertEquals(List.of(plan(other), plan(other)), closed);
        assertEquals(1, rests.all().size());
    }

    @Test
    void memoryCountsForEachHolderInPart() {
        bytes = 90;
        RestPlans<Made> one = hold(1);
        assertEquals(90, rests.share(one));
        hold(1);
        hold(1);
        assertEquals(30, rests.share(one));
    }
}
