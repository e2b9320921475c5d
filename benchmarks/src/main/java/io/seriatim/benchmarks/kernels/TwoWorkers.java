package io.seriatim.benchmarks.kernels;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Measures independent matrix products as operations of an engine, with one and with two workers. */
final class TwoWorkers {
    private static final long SIZE = 256;
    private static final int PRODUCTS = 200;

    private TwoWorkers() {
    }

    static String measure(int rounds) throws InterruptedException {
        double[] gains = new double[rounds];
        try (Engine one = Engine.builder().workers(Lane.CPU, 1).build();
                Engine two = Engine.builder().workers(Lane.CPU, 2).build()) {
            List<Tensor[]> operands = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                operands.add(new Tensor[]{Tensor.allocate(DType.FLOAT32, SIZE, SIZE),
                        Tensor.allocate(DType.FLOAT32, SIZE, SIZE),
                        Tensor.allocate(DType.FLOAT32, SIZE, SIZE)});
            }
            for (Tensor[] tensors : operands) {
                for (Tensor tensor : tensors) {
                    tensor.memory().fill((byte) 0);
                }
            }
            Tensor[] first = operands.getFirst();
            try (Kernel kernel = Kernels.system().prepare(MatMul.PLAIN, Place.CPU, first[0].spec(), first[1].spec(),
                    first[2].spec())) {
                for (int i = -3; i < rounds; i++) {
                    double alone = run(one, kernel, operands);
                    double both = run(two, kernel, operands);
                    if (i >= 0) {
                        gains[i] = alone / both;
                    }
                }
            }
        }
        return String.format(Locale.ROOT,
                "Two workers with one-thread kernels, %d independent matrix products of %d: %.2f times the speed "
                        + "of one (goal 1.85).",
                PRODUCTS, SIZE,
                Figure.median(gains));
    }

    private static double run(Engine engine, Kernel kernel, List<Tensor[]> operands) throws InterruptedException {
        long start = System.nanoTime();
        for (int i = 0; i < PRODUCTS; i++) {
            Tensor[] arguments = operands.get(i % operands.size());
            engine.op("matmul").push(() -> kernel.run(arguments, KernelContext.current()));
        }
        engine.waitForAll();
        return System.nanoTime() - start;
    }
}
