package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;

/**
 * An operand's elements in the row-major order of the shape that it broadcasts to: any range of them can be copied to
 * an array and back. Its loops are merged independently of other operands, so that a dense operand is one row.
 */
record Elements(DType dtype, LoopNest nest) {
    static Elements of(TensorSpec operand, Shape shape) {
        return new Elements(operand.dtype(), LoopNest.of(shape, Tensor.broadcastStrides(operand, shape)));
    }

    /** Whether it repeats a single element. */
    boolean isRepeated() {
        return nest.rows() == 1 && (nest.rowStride(0) == 0 || nest.rowLength() == 1);
    }

    private long at(Tensor tensor, long row, long column) {
        return tensor.offset() + (nest.offset(0, row) + column * nest.rowStride(0)) * dtype.bytes();
    }

    void load(Tensor tensor, long first, float[] into, int count) {
        MemorySegment memory = tensor.memory();
        if (nest.rows() == 1) {
            Floats.load(memory, dtype, at(tensor, 0, first), nest.rowStride(0), into, 0, count);
            return;
        }
        long row = first / nest.rowLength();
        long column = first - row * nest.rowLength();
        for (int done = 0; done < count; row++, column = 0) {
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            Floats.load(memory, dtype, at(tensor, row, column), nest.rowStride(0), into, done, length);
            done += length;
        }
    }

    void load(Tensor tensor, long first, double[] into, int count) {
        long row = first / nest.rowLength();
        long column = first - row * nest.rowLength();
        for (int done = 0; done < count; row++, column = 0) {
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            Doubles.load(tensor.memory(), dtype, at(tensor, row, column), nest.rowStride(0), into, done, length);
            done += length;
        }
    }

    void store(Tensor tensor, long first, float[] values, int count) {
        MemorySegment memory = tensor.memory();
        if (nest.rows() == 1) {
            Floats.store(memory, dtype, at(tensor, 0, first), nest.rowStride(0), values, 0, count);
            return;
        }
        long row = first / nest.rowLength();
        long column = first - row * nest.rowLength();
        for (int done = 0; done < count; row++, column = 0) {
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            Floats.store(memory, dtype, at(tensor, row, column), nest.rowStride(0), values, done, length);
            done += length;
        }
    }

    void store(Tensor tensor, long first, double[] values, int count) {
        long row = first / nest.rowLength();
        long column = first - row * nest.rowLength();
        for (int done = 0; done < count; row++, column = 0) {
            int length = (int) Math.min(count - done, nest.rowLength() - column);
            Doubles.store(tensor.memory(), dtype, at(tensor, row, column), nest.rowStride(0), values, done, length);
            done += length;
        }
    }
}
