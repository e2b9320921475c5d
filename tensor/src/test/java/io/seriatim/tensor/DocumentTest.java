package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.tensor.array.Generator;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import org.junit.jupiter.api.Test;

/** The program of docs/arrays.md. */
class DocumentTest {
    @Test
    void theArraysOfTheDocument() throws InterruptedException {
        try (Engine engine = Engine.create()) {
            NDArrays nd = NDArrays.on(engine);
            Generator random = nd.generator(42);
            NDArray x = random.normal(0, 1, 1000, 64), w = random.normal(0, 0.1, 64, 10);
            float[] before = w.toArray();
            NDArray p = x.matmul(w).softmax(1);
            w.slice(1, 0, 5).multiplyAssign(2);
            p.into(x.slice(1, 0, 10)).add(1);
            NDArray there = w.copyTo(Place.sim(0));
            float[] values = there.toArray();

            for (int i = 0; i < values.length; i++) {
                assertEquals(before[i] * (i % 10 < 5 ? 2 : 1), values[i]);
            }
            assertArrayEquals(new float[]{11, 11}, x.slice(0, 0, 2).slice(1, 0, 10).sum(1).toArray(), 1e-4f);
        }
    }
}
