package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.LevelTable;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Values of levels that are looked up. */
class LevelTableTest {
    private static final long SEED = 20261128;
    private static final List<DType> LEVELS = List.of(DType.INT8, DType.UINT8);

    private static int least(DType dtype) {
        return dtype == DType.INT8 ? Byte.MIN_VALUE : 0;
    }

    private static Tensor random(SplittableRandom random, DType dtype, long... dims) {
        int least = least(dtype);
        return Tensor.of(dtype, random.longs(Shape.of(dims).size(), least, least + 256).toArray(), dims);
    }

    @Test
    void valuesAreThoseOfTheTable() {
        long[][] shapes = {{}, {0}, {1}, {13}, {3, 7}, {2, 33, 5}, {207, 20}, {4098}};
        SplittableRandom random = new SplittableRandom(SEED);
        for (long[] dims : shapes) {
            for (DType from : LEVELS) {
                for (DType to : LEVELS) {
                    Tensor x = random(random, from, dims);
                    Tensor table = random(random, to, 256);
                    assertLooked(x, table, Tensor.allocate(to, dims));
                }
            }
        }
    }

    @Test
    void operandsMayBeViews() {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor table = random(random, DType.INT8, 256);
        Tensor x = random(random, DType.UINT8, 11, 19);
        TensorSpec turned = new TensorSpec(DType.UINT8, Shape.of(19, 11), Layout.strided(1, 19));
        assertLooked(new Tensor(x.buffer(), 0, turned), table, Tensor.allocate(DType.INT8, 19, 11));
        TensorSpec part = new TensorSpec(DType.UINT8, Shape.of(11, 7), Layout.strided(19, 1));
        Tensor out = Tensor.allocate(DType.INT8, 7, 11);
        TensorSpec turnedOut = new TensorSpec(DType.INT8, Shape.of(11, 7), Layout.strided(1, 11));
        assertLooked(new Tensor(x.buffer(), 5, part), table, new Tensor(out.buffer(), 0, turnedOut));
    }

    private static void assertLooked(Tensor x, Tensor table, Tensor out) {
        KernelRun.into(Kernels.system(), new LevelTable(), new Tensor[]{out}, x, table);
        long[] levels = x.toLongArray();
        long[] values = table.toLongArray();
        long[] found = out.toLongArray();
        for (int i = 0; i < levels.length; i++) {
            assertEquals(values[(int) levels[i] - least(x.dtype())], found[i], x.spec() + ", element " + i);
        }
    }

    @Test
    void otherOperandsAreRefused() {
        LevelTable lookup = new LevelTable();
        TensorSpec levels = TensorSpec.of(DType.UINT8, 3);
        assertThrows(IllegalArgumentException.class, () -> lookup.infer(levels, TensorSpec.of(DType.UINT8, 255)));
        assertThrows(IllegalArgumentException.class, () -> lookup.infer(levels, TensorSpec.of(DType.FLOAT32, 256)));
        assertThrows(IllegalArgumentException.class,
                () -> lookup.infer(TensorSpec.of(DType.INT32, 3), TensorSpec.of(DType.INT8, 256)));
        assertEquals(TensorSpec.of(DType.INT8, 3), lookup.infer(levels, TensorSpec.of(DType.INT8, 256))[0]);
    }
}
