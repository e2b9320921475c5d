package io.seriatim.executor;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** Special numbers in place of some elements of a tensor, as tools/golden/special/numbers_of.py makes them. */
final class SpecialNumbers {
    private static final long MASK = 0xffffffffL;

    private SpecialNumbers() {
    }

    private static double[] numbers(String kind, DType dtype) {
        double most = switch (dtype) {
            case FLOAT32 -> Float.MAX_VALUE;
            case FLOAT64 -> Double.MAX_VALUE;
            default -> 65504;
        };
        double tiny = switch (dtype) {
            case FLOAT32 -> Float.MIN_NORMAL;
            case FLOAT64 -> Double.MIN_NORMAL;
            default -> 0x1p-14;
        };
        double least = switch (dtype) {
            case FLOAT32 -> Float.MIN_VALUE;
            case FLOAT64 -> Double.MIN_VALUE;
            default -> 0x1p-24;
        };
        return switch (kind) {
            case "nan" -> new double[]{Double.NaN};
            case "inf" -> new double[]{Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
            case "small" -> new double[]{0, -0.0, least, -least, 1, 1, -1};
            case "huge" -> new double[]{most, -most, tiny};
            default -> new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0, -0.0, least,
                    -least, 1, 1, -1, most, -most, tiny};
        };
    }

    private static long[] wholes(DType dtype) {
        int bits = dtype.bytes() * 8;
        boolean signed = dtype != DType.UINT8 && dtype != DType.UINT16 && dtype != DType.UINT32
                && dtype != DType.UINT64;
        long most = signed ? -1L >>> (65 - bits) : -1L >>> (64 - bits);
        return signed ? new long[]{-most - 1, most, 0, 1, -1} : new long[]{0, most, 0, 1};
    }

    private static long hashed(long seed, long i) {
        long x = (i * 0x9E3779B1L + seed) & MASK;
        x ^= x >>> 16;
        x = (x * 0x85EBCA6BL) & MASK;
        return x ^ (x >>> 13);
    }

    static Tensor replaced(Tensor tensor, String kind, String name) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        long seed = crc.getValue();
        int size = Math.toIntExact(tensor.shape().size());
        if (tensor.dtype().isFloating()) {
            double[] numbers = numbers(kind, tensor.dtype());
            double[] values = tensor.toDoubleArray();
            for (int i = 0; i < size; i++) {
                long x = hashed(seed, i);
                if (x % 4 == 0 || i == seed % size) {
                    values[i] = numbers[(int) ((x >>> 2) % numbers.length)];
                }
            }
            return Tensor.of(tensor.dtype(), values, tensor.shape().dims()).withLod(tensor.lod());
        }
        long[] numbers = wholes(tensor.dtype());
        long[] values = tensor.toLongArray();
        for (int i = 0; i < size; i++) {
            long x = hashed(seed, i);
            if (x % 4 == 0 || i == seed % size) {
                values[i] = numbers[(int) ((x >>> 2) % numbers.length)];
            }
        }
        return Tensor.of(tensor.dtype(), values, tensor.shape().dims()).withLod(tensor.lod());
    }
}
