package io.seriatim.graph.interpret;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.Tensor;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class GradientSumsTest {
    private static float[] sum(GradientSums sums, String name) {
        return ((Tensor) Objects.requireNonNull(sums.get(name))).toFloatArray();
    }

    @Test
    void gradientsThatAreAddedStayAsTheyAre() {
        Tensor first = Tensor.of(new float[]{1, 2, 3, 4}, 2, 2);
        Tensor second = Tensor.of(new float[]{10, 20, 30, 40}, 2, 2);
        try (GradientSums sums = new GradientSums()) {
            assertNull(sums.get("w"));
            sums.add("w", null);
            sums.add("w", first);
            assertSame(first, sums.get("w"));
            sums.add("w", second);
            sums.add("w", null);
            sums.add("w", first);
            sums.add("w", second);
            assertArrayEquals(new float[]{22, 44, 66, 88}, sum(sums, "w"));
            // A gradient in another layout, and the sum of another variable.
            sums.add("w", first.transpose(1, 0));
            sums.add("v", second);
            sums.add("w", first);
            assertArrayEquals(new float[]{24, 49, 71, 96}, sum(sums, "w"));
            assertArrayEquals(new float[]{10, 20, 30, 40}, sum(sums, "v"));
        }
        assertArrayEquals(new float[]{1, 2, 3, 4}, first.toFloatArray());
        assertArrayEquals(new float[]{10, 20, 30, 40}, second.toFloatArray());
    }

    @Test
    void gradientsOfOneVariableHaveOneShape() {
        try (GradientSums sums = new GradientSums()) {
            for (int i = 0; i < 3; i++) {
                sums.add("w", Tensor.of(new float[]{1, 2}, 2));
            }
            assertThrows(IllegalArgumentException.class, () -> sums.add("w", Tensor.of(new float[]{1, 2, 3}, 3)));
        }
    }
}
