package io.seriatim.graph.ops.assignment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Arrays whose lengths come from data are refused by their lengths before they are made. */
class ArraysOfDataTest {
    private static String refused(Runnable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }

    @Test
    void overlapsOfBoxes() {
        Boxes boxes = Boxes.of(DType.FLOAT32);
        double[] some = new double[4 * 300];
        assertEquals(300, WorkingMemory.within(1 << 20, () -> boxes.overlaps(some, some)).length);
        double[] many = new double[4 * 3000];
        String message = refused(() -> WorkingMemory.within(1 << 20, () -> boxes.overlaps(many, many)));
        assertTrue(message.contains("an array of 3000 × 3000 numbers, but the limit is 1048576 bytes"), message);
    }

    /** The declared length of a shape that is a tensor. */
    @Test
    void dimensionsOfRandomNumbers() {
        for (String type : List.of("uniform_random", "gaussian_random")) {
            for (long count : new long[]{1L << 31, 1L << 40}) {
                Program program = new Program();
                program.global().put(VarDesc.of("shape", VarType.dense(DType.INT64, count)));
                OpDesc op = OpDesc.of(type).in("ShapeTensor", "shape").out("Out", "y").build();
                String message = refused(() -> Appender.append(program.global(), op, 0));
                assertTrue(message.contains(type) && message.contains(Long.toString(count)), message);
            }
        }
    }
}
