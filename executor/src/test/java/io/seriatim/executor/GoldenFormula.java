package io.seriatim.executor;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * Computes weights and batches by the formula of tools/golden/executor/formula.py, which computes the same values for
 * Paddle, so that no file needs to store them.
 */
final class GoldenFormula {
    private static final Set<String> NORMALISATIONS = Set.of("batch_norm", "layer_norm");

    private GoldenFormula() {
    }

    /** Returns a number of the generator splitmix64. */
    private static long bits(long seed, long index) {
        long mixed = seed + (index + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    private static long seed(String name) {
        CRC32 checksum = new CRC32();
        checksum.update(name.getBytes(StandardCharsets.UTF_8));
        return checksum.getValue() << 32;
    }

    private static Tensor reals(String name, double offset, double scale, long... dims) {
        float[] values = new float[size(dims)];
        long seed = seed(name);
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (offset + scale * ((bits(seed, i) >>> 40) / 0x1p24 - 0.5));
        }
        return Tensor.of(values, dims);
    }

    private static int size(long... dims) {
        long size = 1;
        for (long dim : dims) {
            size *= dim;
        }
        return Math.toIntExact(size);
    }

    /** Returns a batch of real numbers if the bound is 0, otherwise of integers below it. */
    static Tensor batch(String name, long bound, long... dims) {
        if (bound == 0) {
            return reals(name, 0, 2, dims);
        }
        long[] values = new long[size(dims)];
        long seed = seed(name);
        for (int i = 0; i < values.length; i++) {
            values[i] = (bits(seed, i) >>> 33) % bound;
        }
        return Tensor.of(values, dims);
    }

    /** Computes the parameters of a program, each according to its role. */
    static final class Parameters {
        private final Set<String> scales = new HashSet<>();
        private final Set<String> variances = new HashSet<>();

        Parameters(Program program) {
            program.blocks().forEach(block -> block.ops().forEach(this::add));
        }

        private void add(OpDesc op) {
            if (NORMALISATIONS.contains(op.type())) {
                scales.addAll(op.input("Scale"));
            }
            if (op.type().equals("batch_norm")) {
                variances.addAll(op.input("Variance"));
            }
        }

        Tensor value(String name, long... dims) {
            if (scales.contains(name)) {
                return reals(name, 1, 0.4, dims);
            }
            if (variances.contains(name)) {
                return reals(name, 1, 1, dims);
            }
            if (dims.length == 1) {
                return reals(name, 0, 0.2, dims);
            }
            long fanIn = dims.length == 2 ? dims[0] : size(dims) / dims[0];
            return reals(name, 0, Math.sqrt(20.0 / fanIn), dims);
        }
    }
}
