package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.DnnlException;
import io.seriatim.tensor.internal.ffi.DnnlStatus;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A kernel is declined for what the library cannot describe, and only for that. */
class DescriptorsTest {
    private static final long SEED = 20261123;

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
    }

    @Test
    void theLibraryRefusesExactlyStridesThatOverlap() {
        Dnnl dnnl = Dnnl.require();
        SplittableRandom random = new SplittableRandom(SEED);
        int refused = 0;
        for (int i = 0; i < 5000; i++) {
            int rank = random.nextInt(1, 5);
            long[] dims = random.longs(rank, 0, 5).toArray();
            long[] strides = random.longs(rank, -1, 21).toArray();
            boolean overlaps = Specs.overlaps(dims, strides);
            refused += overlaps ? 1 : 0;
            assertEquals(!overlaps, isDescribed(dnnl, dims, strides),
                    () -> Arrays.toString(dims) + " strides " + Arrays.toString(strides));
        }
        assertTrue(refused > 500 && refused < 4500, "refused " + refused);
    }

    private static boolean isDescribed(Dnnl dnnl, long[] dims, long[] strides) {
        try {
            dnnl.destroy(dnnl.describe(dims, DnnlConstants.F32, strides));
            return true;
        } catch (DnnlException e) {
            assertEquals(DnnlStatus.INVALID_ARGUMENTS, e.status());
            return false;
        }
    }

    @Test
    void aRecipeThatNeedsNoSuchDescriptorIsDeclined() {
        Dnnl dnnl = Dnnl.require();
        long[] many = new long[DnnlConstants.MOST_DIMENSIONS + 1];
        Arrays.fill(many, 1);
        List<DnnlKernel.Recipe> recipes = List.of(
                builder -> isSize(builder.describe(new long[]{3, 3}, DType.FLOAT32, new long[]{1, 1}), dnnl),
                builder -> isSize(builder.describe(new long[]{3}, DType.FLOAT64, new long[]{1}), dnnl),
                builder -> isSize(builder.describeAny(new long[]{3}, DType.INT64), dnnl),
                builder -> isSize(builder.describe(many, DType.FLOAT32, many), dnnl));
        for (DnnlKernel.Recipe recipe : recipes) {
            assertNull(DnnlKernel.of(dnnl, recipe));
        }
    }

    private static boolean isSize(MemoryDescriptor descriptor, Dnnl dnnl) {
        return dnnl.size(descriptor) > 0;
    }

    /** A mistake of a recipe is not taken for an operation that the library does not have. */
    @Test
    void aRecipeThatDescribesAPrimitiveWronglyFails() {
        Dnnl dnnl = Dnnl.require();
        DnnlException e = assertThrows(DnnlException.class, () -> DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor left = builder.rowMajor(2, 3);
            MemoryDescriptor right = builder.rowMajor(4, 5);
            return builder.keepFast(builder.primitives().tryMatMul(left, right, null, builder.rowMajor(2, 5),
                    builder.attributes())) != null;
        }));
        assertEquals(DnnlStatus.INVALID_ARGUMENTS, e.status());
    }

    @Test
    void postOpsThatTheLibraryRefusesAreNotAsked() {
        Dnnl dnnl = Dnnl.require();
        Handles handles = new Handles();
        try {
            SequenceBuilder builder = new SequenceBuilder(dnnl, handles, 1);
            PostOp relu = new PostOp.Apply(Unary.Function.RELU, 0, 0);
            assertNotNull(builder.tryAttributes(Collections.nCopies(DnnlConstants.MOST_POST_OPS, relu), List.of()));
            assertNull(builder.tryAttributes(Collections.nCopies(DnnlConstants.MOST_POST_OPS + 1, relu), List.of()));
            assertNull(builder.tryAttributes(List.of(new PostOp.Apply(Unary.Function.CLIP, 1, -1)), List.of()));
            assertNull(builder.tryAttributes(List.of(new PostOp.Apply(Unary.Function.CLIP, Float.NaN, 1)), List.of()));
        } finally {
            handles.run();
        }
    }
}
