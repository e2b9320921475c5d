package io.seriatim.tensor.kernel;

import io.seriatim.device.Buffer;
import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Where;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A tensor that lies somewhere in larger memory, in any layout that views have: a part, dimensions in another order,
 * any step of what is single, what is repeated, what runs backwards. What lies around its elements is NaN, or no index
 * of anything, so that what is read beyond them shows; and it must stay as it is.
 */
final class GuardedView {
    private static final long AROUND = 512;
    private static final long NOT_AN_INDEX = 0x7f7f7f7f7f7f7f7fL;

    /** How far from dense it may be. */
    enum Freedom {
        DENSE, WRITTEN, READ
    }

    private final Tensor tensor;
    private final byte[] before;
    private final int[] places;

    private GuardedView(Tensor tensor) {
        this.tensor = tensor;
        places = places(tensor.spec());
        fillAll();
        before = bytes();
    }

    static GuardedView any(SplittableRandom random, DType dtype, long[] dims, Freedom freedom) {
        return at(random, dtype, dims,
                freedom == Freedom.DENSE ? Shape.of(dims).strides() : steps(random, dims, freedom));
    }

    static GuardedView at(SplittableRandom random, DType dtype, long[] dims, long[] steps) {
        long least = 0;
        long most = 0;
        for (int i = 0; i < dims.length; i++) {
            long reach = Math.max(0, dims[i] - 1) * steps[i];
            least += Math.min(0, reach);
            most += Math.max(0, reach);
        }
        long first = AROUND + random.nextInt(16) - least;
        Buffer buffer = Devices.system().host().allocate((first + most + 1 + AROUND) * dtype.bytes());
        return new GuardedView(new Tensor(buffer, first * dtype.bytes(),
                new TensorSpec(dtype, Shape.of(dims), Layout.strided(steps))));
    }

    /** With the same layout and what it holds, elsewhere. */
    GuardedView copy() {
        Buffer buffer = Devices.system().host().allocate(tensor.buffer().bytes());
        GuardedView copy = new GuardedView(new Tensor(buffer, tensor.offset(), tensor.spec()));
        copy.set(values());
        return copy;
    }

    private static long[] steps(SplittableRandom random, long[] dims, Freedom freedom) {
        int rank = dims.length;
        long[] whole = dims.clone();
        if (random.nextInt(5) < 2) {
            // A part of something larger, or all of it.
            int cut = random.nextInt(rank + 1);
            if (cut < rank) {
                whole[cut] += random.nextInt(1, 5);
            }
            return Shape.of(whole).strides();
        }
        boolean[] repeated = new boolean[rank];
        for (int i = 0; i < rank; i++) {
            whole[i] += random.nextInt(3) == 0 ? random.nextInt(4) : 0;
            repeated[i] = freedom == Freedom.READ && random.nextInt(20) == 0;
        }
        int[] order = order(random, rank);
        long[] steps = new long[rank];
        long next = random.nextInt(10) == 0 ? 2 : 1;
        for (int i = rank - 1; i >= 0; i--) {
            int axis = order[i];
            steps[axis] = repeated[axis] ? 0 : next;
            next *= repeated[axis] ? 1 : Math.max(1, whole[axis]);
        }
        boolean backwards = random.nextInt(20) == 0;
        for (int i = 0; i < rank; i++) {
            if (dims[i] == 1 && random.nextInt(3) == 0) {
                steps[i] = random.nextInt(60);
            } else if (backwards && random.nextInt(2) == 0) {
                steps[i] = -steps[i];
            }
        }
        return steps;
    }

    /** Of the dimensions, the outermost first: as they are, channels last, the last two exchanged, or any. */
    private static int[] order(SplittableRandom random, int rank) {
        int[] order = IntStream.range(0, rank).toArray();
        switch (random.nextInt(5)) {
            case 0 -> {
                for (int i = rank - 1; i > 0; i--) {
                    exchange(order, i, random.nextInt(i + 1));
                }
            }
            case 1 -> {
                for (int i = 1; i < rank - 1; i++) {
                    exchange(order, i, i + 1);
                }
            }
            case 2 -> exchange(order, Math.max(0, rank - 2), Math.max(0, rank - 1));
            default -> {
                return order;
            }
        }
        return order;
    }

    private static void exchange(int[] order, int i, int j) {
        if (order.length > 0) {
            int moved = order[i];
            order[i] = order[j];
            order[j] = moved;
        }
    }

    /** Where each element is, in elements from the first. */
    private static int[] places(TensorSpec spec) {
        int[] places = new int[Math.toIntExact(spec.shape().size())];
        long[] steps = spec.strides();
        for (int i = 0; i < places.length; i++) {
            long rest = i;
            long at = 0;
            for (int axis = steps.length - 1; axis >= 0; axis--) {
                at += rest % spec.shape().dim(axis) * steps[axis];
                rest /= spec.shape().dim(axis);
            }
            places[i] = Math.toIntExact(at);
        }
        return places;
    }

    private void fillAll() {
        MemorySegment memory = tensor.memory();
        DType dtype = tensor.dtype();
        for (long at = 0; at < memory.byteSize(); at += dtype.bytes()) {
            if (dtype.isFloating()) {
                Doubles.set(memory, dtype, at, Double.NaN);
            } else {
                memory.asSlice(at, dtype.bytes()).fill((byte) (dtype == DType.BOOL ? 1 : NOT_AN_INDEX));
            }
        }
    }

    Tensor tensor() {
        return tensor;
    }

    TensorSpec spec() {
        return tensor.spec();
    }

    void set(double... values) {
        for (int i = 0; i < places.length; i++) {
            Doubles.set(tensor.memory(), tensor.dtype(), at(i), values[i]);
        }
    }

    double[] values() {
        return IntStream.range(0, places.length).mapToDouble(i -> Doubles.get(tensor.memory(), tensor.dtype(), at(i)))
                .toArray();
    }

    /** The same elements, one after the other. */
    Tensor dense() {
        return Tensor.of(tensor.dtype(), values(), tensor.shape().dims());
    }

    private long at(int i) {
        return tensor.offset() + (long) places[i] * tensor.dtype().bytes();
    }

    private byte[] bytes() {
        return tensor.memory().toArray(ValueLayout.JAVA_BYTE);
    }

    /** Whether what lies around its elements is as it was. */
    boolean isIntact() {
        byte[] now = bytes();
        for (int i = 0; i < places.length; i++) {
            int at = Math.toIntExact(at(i));
            System.arraycopy(before, at, now, at, tensor.dtype().bytes());
        }
        return Arrays.equals(before, now);
    }
}
