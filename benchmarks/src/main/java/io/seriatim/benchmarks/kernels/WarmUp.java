package io.seriatim.benchmarks.kernels;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.Update;
import io.seriatim.tensor.kernel.Computation;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Measures the first calls of kernels in a new process. */
final class WarmUp {
    private static final long N = 1 << 16;
    private static final int STEADY = 3000;

    private WarmUp() {
    }

    static String inOwnProcess() throws IOException, InterruptedException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process process = new ProcessBuilder(java.toString(), "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), WarmUp.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (InputStream out = process.getInputStream()) {
            String text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException("the process that measures the warm-up ended with " + code);
            }
            return text.strip();
        }
    }

    /**
     * Prints a line for each kernel.
     *
     * @param args
     *            none
     */
    public static void main(String[] args) {
        System.out.println(
                "Warm-up, 65,536 elements: µs of the first call, of the tenth, and in the steady state (goal: the "
                        + "tenth at most twice the steady state)");
        long rows = N / 256;
        Tensor[] pows = {Tensor.of(new float[]{0.9f}, 1), Tensor.of(new float[]{0.999f}, 1)};
        Tensor param = tensor(N);
        Tensor first = tensor(N);
        Tensor second = tensor(N);
        Tensor indices = Tensor.of(new long[(int) rows], rows);
        measure("matmul 256", MatMul.PLAIN, tensor(rows, 256), tensor(256, 256), tensor(rows, 256));
        measure("gelu", Unary.of(Unary.Function.GELU_ERF), tensor(N), tensor(N));
        measure("add", Binary.of(Binary.Function.ADD), tensor(N), tensor(N), tensor(N));
        measure("maximum", Binary.of(Binary.Function.MAXIMUM), tensor(N), tensor(N), tensor(N));
        measure("softmax", new Softmax(-1, false), tensor(rows, 256), tensor(rows, 256));
        measure("layer norm", new LayerNorm(1, 1e-5f, true, true), tensor(rows, 256), tensor(256), tensor(256),
                tensor(rows, 256),
                tensor(rows), tensor(rows));
        measure("sum of rows", new Reduction(Reduction.Function.SUM, List.of(1), false), tensor(rows, 256),
                tensor(rows));
        measure("embedding", Gather.of(0), tensor(rows, 256), indices, tensor(rows, 256));
        measure("Adam", new Update.Adam(0.9f, 0.999f, 1e-8f, 0), param, tensor(N), Tensor.of(new float[]{1e-3f}, 1),
                first, second, pows[0],
                pows[1]);
    }

    private static Tensor tensor(long... dims) {
        Tensor tensor = Tensor.allocate(DType.FLOAT32, dims);
        tensor.memory().fill((byte) 0);
        return tensor;
    }

    private static void measure(String name, Computation computation, Tensor... arguments) {
        Call call = new Call(computation, arguments);
        double[] nanos = new double[STEADY];
        for (int i = 0; i < STEADY; i++) {
            nanos[i] = Duel.nanos(call, 1);
        }
        double steady = Figure.median(Arrays.copyOfRange(nanos, STEADY - STEADY / 10, STEADY));
        System.out.printf(Locale.ROOT, "  %-12s %9.1f %9.1f %9.1f   %.1f times%n", name, nanos[0] / 1e3, nanos[9] / 1e3,
                steady / 1e3,
                nanos[9] / steady);
    }
}
