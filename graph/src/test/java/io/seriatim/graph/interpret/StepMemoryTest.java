package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StepMemoryTest {
    private static Program loop() {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 2, 4);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(DType.INT64, 0, 1)).one("Out");
            Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(3)), v -> {
                Value listed = v.get(1).tanh();
                Value i = v.getFirst().plus(1);
                g.op("write_to_array").in("X", listed).in("I", i).to("Out", list).append();
                return List.of(i, listed.sigmoid().plus(v.get(1)));
            }, g.full(DType.INT64, 0, 1), g.linear(x, 4)).get(1);
            Value loss = end.mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        }).main();
    }

    private static OpDesc loop(Block block) {
        return block.ops().stream().filter(op -> op.type().equals("while")).findFirst().orElseThrow();
    }

    private static @Nullable Set<String> exposed(Program program) {
        OpDesc loop = loop(program.global());
        String steps = loop.output("StepScopes").getFirst();
        return StepMemory.exposed(program, loop, program.blocks().stream().flatMap(block -> block.ops().stream())
                .filter(op -> op.inputNames().contains(steps)).toList());
    }

    @Test
    void whatInstructionsReadIsExposed() {
        Set<String> exposed = exposed(loop());
        assertNotNull(exposed);
        assertTrue(exposed.stream().anyMatch(name -> name.startsWith("tanh")), exposed::toString);
        assertFalse(exposed.stream().anyMatch(name -> name.startsWith("sigmoid") && !name.contains("@")),
                exposed::toString);
    }

    @Test
    void stepsThatAreReadTwiceAreKept() {
        Program program = loop();
        Block global = program.global();
        global.add(global.ops().stream().filter(op -> op.type().equals("while_grad")).findFirst().orElseThrow());
        assertNull(exposed(program));
        assertNull(StepMemory.of(null));
    }

    @Test
    void whatNothingElseHasIsClosed() {
        StepMemory memory = StepMemory.of(Set.of("listed"));
        assertNotNull(memory);
        Tensor closed = Tensor.of(new float[]{1}, 1);
        Tensor listed = Tensor.of(new float[]{2}, 1);
        Tensor passedOn = Tensor.of(new float[]{3}, 1);
        Tensor carried = Tensor.of(new float[]{4}, 1);
        memory.add("closed", closed);
        memory.add("listed", listed);
        memory.add("passedOn", passedOn);
        memory.add("carried", carried);
        memory.keep(passedOn.reshape(1, 1));
        memory.requireOpen();
        List<Tensor> used = memory.free(List.of(), tensor -> StepMemory.isIn(List.of(carried.reshape(1, 1)), tensor));
        assertEquals(List.of(carried), used);
        assertFalse(closed.buffer().isOpen());
        assertTrue(listed.buffer().isOpen() && passedOn.buffer().isOpen() && carried.buffer().isOpen());
        assertThrows(IllegalStateException.class, memory::requireOpen);
        StepMemory next = StepMemory.of(Set.of());
        assertNotNull(next);
        assertEquals(List.of(), next.free(used, _ -> false));
        assertFalse(carried.buffer().isOpen());
    }
}
