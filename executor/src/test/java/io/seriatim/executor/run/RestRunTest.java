package io.seriatim.executor.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Scope;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a part gives is passed on to later ones, and freed when no other part and no caller needs it. */
class RestRunTest {
    /** Operation i reads the result of operation i − 1, the first one x. */
    private static final Network NETWORK = Network.define(1, g -> {
        Value y = g.data("x", DType.FLOAT32, -1, 2);
        for (int i = 0; i < 4; i++) {
            y = y.tanh();
        }
        return Outputs.of("y", y);
    });
    private static final int PARTS = NETWORK.main().global().ops().size();

    private final Tensor x = Bits.floats(1);
    private final Tensor[] given =
            IntStream.range(0, PARTS).mapToObj(i -> Bits.floats(2 + i)).toArray(Tensor[]::new);

    /** A task whose parts are one operation each; the last result is that of the block. */
    private static Task.Rest task() {
        var block = NETWORK.main().global();
        List<Task.Rest.Part> parts = IntStream.range(0, PARTS).mapToObj(i -> new Task.Rest.Part(
                ValueNumbering.rest(block, List.of(i), List.copyOf(block.ops().get(i).inputNames()),
                        List.copyOf(block.ops().get(i).outputNames())),
                Map.of(), new int[]{i == 0 ? 0 : -1}, new int[]{i - 1}, new int[]{i}, i == PARTS - 1 ? 1 : 0,
                i == 0 ? new int[0] : new int[]{i - 1})).toList();
        return new Task.Rest(parts.stream().flatMap(part -> part.block().operations().stream()).toList(), parts, PARTS,
                new int[]{0}, new int[]{1}, new int[]{PARTS - 1}, -1, List.of());
    }

    private RestOfBlock.Results run(RestOfBlock rest) {
        RunContext context =
                new RunContext(new Object[]{x}, Internals.bindings(new Scope()), () -> {
                    throw new AssertionError("nothing is interpreted");
                }, new Cancellation(), null, (_, _, _) -> List.of());
        return new RestRun(task(), _ -> x, context, rest).results();
    }

    private static RestOfBlock.Results own(@Nullable Object value, boolean isOwn) {
        return new RestOfBlock.Results(new Object[]{value}, new boolean[]{isOwn});
    }

    @Test
    void eachPartIsGivenWhatTheOneBeforeGives() {
        RestOfBlock.Results results = run((part, fetched, context) -> {
            assertSame(part == 0 ? x : given[part - 1], context.externals()[0]);
            assertEquals(part == PARTS - 1 ? 1 : 0, fetched);
            for (int earlier = 0; earlier < part - 1; earlier++) {
                assertFalse(given[earlier].buffer().isOpen(), "nothing needs it");
            }
            return own(given[part], true);
        });
        assertSame(given[PARTS - 1], results.values()[0]);
        assertArrayEquals(new boolean[]{true}, results.isOwn());
        assertTrue(given[PARTS - 1].buffer().isOpen());
        assertFalse(given[PARTS - 2].buffer().isOpen());
        assertTrue(x.buffer().isOpen(), "it belongs to the enclosing plan");
    }

    @Test
    void memoryThatOthersHaveStays() {
        run((part, _, _) -> own(given[part], part != 1));
        assertFalse(given[0].buffer().isOpen());
        assertTrue(given[1].buffer().isOpen(), "it is not known to be nobody else's");
    }

    @Test
    void memoryThatALaterPartGivesOnStays() {
        RestOfBlock.Results results = run((part, _, context) -> part < 2
                ? own(given[part], true)
                : own(context.externals()[0], false));
        assertSame(given[1], results.values()[0]);
        assertTrue(given[1].buffer().isOpen());
    }
}
