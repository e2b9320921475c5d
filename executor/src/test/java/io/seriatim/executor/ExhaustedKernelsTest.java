package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The heap is exhausted while a kernel is prepared for a pass or a plan: the first, the second, and so on. */
class ExhaustedKernelsTest {
    private static final Tensor X = Tensor.of(new float[]{1, -2, 3, 4}, 2, 2);
    private static final Tensor W = Tensor.of(new float[]{1, 2, 3, 4}, 2, 2);
    private static final float[] EXPECTED = {0, 0, 15, 22};

    private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    private <C extends Computation> void add(Kernels kernels, String operation, Class<C> type) {
        kernels.register("test", "cpu", operation, type, List.of(DType.FLOAT32), (computation, arguments) -> {
            if (left.getAndDecrement() == 0) {
                throw new OutOfMemoryError("planted");
            }
            return Kernels.portable().prepareIfAny(computation, Place.CPU, arguments);
        });
    }

    private static Program program() {
        Program program = new Program();
        for (String name : List.of("x", "w")) {
            program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, 2, 2)));
        }
        Appender.append(program.global(), OpDesc.of("matmul_v2").in("X", "x").in("Y", "w").out("Out", "p").build(), 0);
        Appender.append(program.global(), OpDesc.of("relu").in("X", "p").out("Out", "r").build(), 0);
        Appender.append(program.global(),
                OpDesc.of("elementwise_mul").in("X", "r").in("Y", "r").out("Out", "s").build(), 0);
        Appender.append(program.global(), OpDesc.of("sqrt").in("X", "s").out("Out", "y").build(), 0);
        return program;
    }

    @Test
    void theOperationIsNamedAndALaterRunSucceeds() {
        Kernels kernels = new Kernels();
        add(kernels, "matmul", MatMul.class);
        add(kernels, "unary", Unary.class);
        add(kernels, "binary", Binary.class);
        add(kernels, "copy", Copy.class);
        add(kernels, "chain", Chain.class);
        int failed = 0;
        boolean all = false;
        while (!all) {
            try (Executor executor = Executor.builder().threads(1).kernels(new PreparedKernels(kernels, 100)).build()) {
                left.set(failed);
                Plan plan = executor.compile(program(), feeds("x", "w"), fetches("y"));
                try {
                    // The first plan is made in haste, the second with all passes.
                    for (int i = 0; i < 3; i++) {
                        plan.run(X, W);
                    }
                    all = true;
                } catch (ProgramFailedException e) {
                    assertInstanceOf(OutOfMemoryError.class, e.getCause());
                    String message = String.valueOf(e.getMessage());
                    assertTrue(List.of("Operation 0 (matmul_v2,", "Operation 1 (relu,", "Operation 2 (elementwise_mul,",
                            "Operation 3 (sqrt,").stream().anyMatch(message::contains)
                            && message.contains("memory is exhausted (planted)") && message.contains("-Xmx"), message);
                    failed++;
                }
                left.set(Integer.MAX_VALUE);
                assertArrayEquals(EXPECTED, plan.run(X, W).get("y").toFloatArray(), 1e-4f);
            }
        }
        System.out.println(failed + " preparations of kernels failed");
        assertTrue(failed > 0);
    }
}
