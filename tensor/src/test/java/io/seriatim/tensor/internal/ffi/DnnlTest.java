package io.seriatim.tensor.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Failures of the library are exceptions with its status, and nothing else. */
class DnnlTest {
    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(Dnnl.get() != null, () -> "oneDNN is not there: " + Dnnl.problem());
    }

    private static DnnlStatus statusOf(Runnable call) {
        return assertThrows(DnnlException.class, call::run).status();
    }

    /** The numbers and names of {@code dnnl_status_t} in dnnl_types.h. */
    @Test
    void aNumberHasItsNameInTheLibrary() {
        List<String> names = List.of("success", "out_of_memory", "invalid_arguments", "unimplemented",
                "last_impl_reached", "runtime_error", "not_required", "invalid_graph", "invalid_graph_op",
                "invalid_shape", "invalid_data_type");
        for (int code = 0; code < names.size(); code++) {
            assertEquals(names.get(code), DnnlStatus.of(code).toString());
        }
        for (int code : new int[]{-1, names.size(), Integer.MAX_VALUE}) {
            assertEquals(DnnlStatus.UNKNOWN, DnnlStatus.of(code));
        }
    }

    @ParameterizedTest
    @EnumSource(value = DnnlStatus.class, names = "SUCCESS", mode = EnumSource.Mode.EXCLUDE)
    void aFailureNamesFunctionStatusAndArguments(DnnlStatus status) {
        Dnnl dnnl = Dnnl.require();
        MemoryDescriptor.Owned matrix = dnnl.describe(new long[]{2, 3}, DnnlConstants.F32, new long[]{3, 1});
        MemoryDescriptor.Owned any = dnnl.describeAny(new long[]{4}, DnnlConstants.BF16);
        try {
            DnnlException e = assertThrows(DnnlException.class, () -> CheckedCalls.require(status,
                    () -> dnnl.calls().failure("dnnl_f", status, matrix, any, null, 7, new long[]{1, 2})));
            assertEquals(status, e.status());
            assertEquals("oneDNN: dnnl_f(f32 [2, 3] strides [3, 1], bf16 [4] strides chosen by the library, none, 7, "
                    + "[1, 2]) failed with status " + status, e.getMessage());
        } finally {
            dnnl.destroy(matrix);
            dnnl.destroy(any);
        }
    }

    @Test
    void aWrongDescriptorIsRefused() {
        Dnnl dnnl = Dnnl.require();
        assertEquals(DnnlStatus.INVALID_ARGUMENTS,
                statusOf(() -> dnnl.describe(new long[]{-1}, DnnlConstants.F32, new long[]{1})));
        assertEquals(DnnlStatus.INVALID_ARGUMENTS,
                statusOf(() -> dnnl.describe(new long[]{3, 3}, DnnlConstants.F32, new long[]{1, 1})));
        assertEquals(DnnlStatus.INVALID_ARGUMENTS, statusOf(() -> dnnl.describeAny(new long[]{3}, 99)));
        assertEquals(DnnlStatus.INVALID_ARGUMENTS, statusOf(() -> dnnl.execute(0, 0, 0)));
        assertEquals(DnnlStatus.INVALID_ARGUMENTS, statusOf(() -> dnnl.setDataHandle(0, 0)));
    }

    /** The library dereferences some null pointers. */
    @Test
    void noHandleIsANullPointer() {
        List<LongFunction<Handle>> kinds = List.of(MemoryDescriptor.Owned::new, MemoryDescriptor.Borrowed::new,
                PrimitiveDescriptor::new, Primitive::new, MemoryObject::new, Attributes::new, PostOpList::new);
        for (LongFunction<Handle> kind : kinds) {
            assertThrows(IllegalArgumentException.class, () -> kind.apply(0));
        }
    }

    @Test
    void descriptorsThatDoNotFitAreRefused() {
        Dnnl dnnl = Dnnl.require();
        MemoryDescriptor.Owned left = dnnl.describe(new long[]{2, 3}, DnnlConstants.F32, new long[]{3, 1});
        MemoryDescriptor.Owned right = dnnl.describe(new long[]{4, 5}, DnnlConstants.F32, new long[]{5, 1});
        MemoryDescriptor.Owned result = dnnl.describe(new long[]{2, 5}, DnnlConstants.F32, new long[]{5, 1});
        Attributes attributes = dnnl.attributes();
        try {
            DnnlException e = assertThrows(DnnlException.class,
                    () -> dnnl.primitives().tryMatMul(left, right, null, result, attributes));
            assertEquals(DnnlStatus.INVALID_ARGUMENTS, e.status());
            String message = String.valueOf(e.getMessage());
            assertTrue(message.contains("dnnl_matmul_primitive_desc_create")
                    && message.contains("f32 [4, 5] strides [5, 1]"), message);
        } finally {
            dnnl.destroy(attributes);
            List.of(left, right, result).forEach(dnnl::destroy);
        }
    }

    @Test
    void onlyAMissingImplementationIsNull() {
        Dnnl dnnl = Dnnl.require();
        MemoryDescriptor.Owned integers = dnnl.describe(new long[]{4, 4}, DnnlConstants.S32, new long[]{4, 1});
        MemoryDescriptor.Owned floats = dnnl.describe(new long[]{4, 4}, DnnlConstants.F32, new long[]{4, 1});
        Attributes attributes = dnnl.attributes();
        try {
            assertNull(dnnl.primitives().trySoftmax(DnnlConstants.FORWARD_INFERENCE, DnnlConstants.SOFTMAX, integers,
                    integers, 1, attributes));
            PrimitiveDescriptor product = dnnl.primitives().tryMatMul(floats, floats, null, floats, attributes);
            assertNotNull(product);
            assertNotNull(dnnl.find(product, DnnlConstants.QUERY_WEIGHTS));
            assertEquals(64, dnnl.size(dnnl.get(product, DnnlConstants.QUERY_WEIGHTS)));
            dnnl.destroy(product);
        } finally {
            dnnl.destroy(attributes);
            dnnl.destroy(integers);
            dnnl.destroy(floats);
        }
    }

    @Test
    void moreThanTheMostPostOpsAreRefused() {
        Dnnl dnnl = Dnnl.require();
        MemoryDescriptor.Owned row = dnnl.describe(new long[]{4}, DnnlConstants.F32, new long[]{1});
        PostOpList list = dnnl.postOps();
        try {
            assertEquals(DnnlStatus.INVALID_ARGUMENTS, statusOf(() -> dnnl.appendEltwise(list, 0, 0, 0)));
            for (int i = 0; i < DnnlConstants.MOST_POST_OPS; i++) {
                dnnl.appendBinary(list, 0x1fff0, row);
            }
            assertEquals(DnnlStatus.OUT_OF_MEMORY, statusOf(() -> dnnl.appendBinary(list, 0x1fff0, row)));
        } finally {
            dnnl.destroy(list);
            dnnl.destroy(row);
        }
    }
}
