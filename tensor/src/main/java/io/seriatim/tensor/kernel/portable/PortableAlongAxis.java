package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.FrontIndexes;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Range;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.Ranking;
import io.seriatim.tensor.kernel.portable.view.AlongAxis;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Elements taken, put and ordered along an axis, and tensors that come from their indices alone. */
final class PortableAlongAxis {
    private PortableAlongAxis() {
    }

    static Kernel take(TakeAlongAxis take, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        AlongAxis elements = AlongAxis.of("take_along_axis", x.shape().axis(take.axis()),
                Objects.requireNonNull(arguments[1]), x, Objects.requireNonNull(arguments[2]));
        return PortableKernel.of((all, context) -> {
            elements.check(all.get(1), context);
            elements.take(all.get(0), all.get(1), all.get(2), context);
        });
    }

    static @Nullable Kernel put(PutAlongAxis put, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        if (!PortableIndex.areRowMajor(arguments)) {
            return null;
        }
        AlongAxis elements = AlongAxis.of("put_along_axis", x.shape().axis(put.axis()),
                Objects.requireNonNull(arguments[1]), x, Objects.requireNonNull(arguments[2]));
        return PortableKernel.of((all, context) -> {
            elements.check(all.get(1), context);
            if (put.add() && elements.add(all.get(0), all.get(2), all.get(1), all.get(3), context)) {
                return;
            }
            PortableIndex.copyWhole(all.get(0), all.get(3));
            elements.put(all.get(2), all.get(1), all.get(3), put.add(), context);
        });
    }

    static Kernel topK(TopK topK, @Nullable TensorSpec[] arguments) {
        TensorSpec spec = Objects.requireNonNull(arguments[0]);
        AxisView x = AxisView.of(spec, topK.axis());
        AxisView values = AxisView.of(Objects.requireNonNull(arguments[1]), topK.axis());
        AxisView indices = AxisView.of(Objects.requireNonNull(arguments[2]), topK.axis());
        boolean whole = spec.dtype().arithmetic() == DType.INT64;
        return PortableKernel.of((all, context) -> {
            Ranking ranking = new Ranking(spec.dtype(), x.length(), (int) topK.k(), topK.largest());
            for (long i = 0; i < x.count() && topK.k() > 0; i++) {
                long from = x.at(all.get(0), i);
                if (whole) {
                    Longs.load(all.get(0).memory(), spec.dtype(), from, x.stride(), ranking.wholes(), 0, x.length());
                } else {
                    Doubles.load(all.get(0).memory(), spec.dtype(), from, x.stride(), ranking.reals(), 0, x.length());
                }
                int[] order = whole ? ranking.ofWholes() : ranking.ofReals();
                long toIndices = indices.at(all.get(2), i);
                long toValues = values.at(all.get(1), i);
                for (int j = 0; j < topK.k(); j += KernelContext.TILE) {
                    int count = (int) Math.min(KernelContext.TILE, topK.k() - j);
                    long[] places = context.longs(0);
                    for (int n = 0; n < count; n++) {
                        places[n] = order[j + n];
                    }
                    Longs.store(all.get(2).memory(), DType.INT64, toIndices + j * indices.stride() * Long.BYTES,
                            indices.stride(), places, 0, count);
                    long at = toValues + j * values.stride() * spec.dtype().bytes();
                    if (whole) {
                        long[] chosen = context.longs(1);
                        for (int n = 0; n < count; n++) {
                            chosen[n] = ranking.wholes()[order[j + n]];
                        }
                        Longs.store(all.get(1).memory(), spec.dtype(), at, values.stride(), chosen, 0, count);
                    } else {
                        double[] chosen = context.doubles(0);
                        for (int n = 0; n < count; n++) {
                            chosen[n] = ranking.reals()[order[j + n]];
                        }
                        Doubles.store(all.get(1).memory(), spec.dtype(), at, values.stride(), chosen, 0, count);
                    }
                }
            }
        });
    }

    static @Nullable Kernel frontIndexes(FrontIndexes front) {
        long[] lengths = front.lengths().stream().mapToLong(Long::longValue).toArray();
        if (lengths.length > KernelContext.TILE) {
            return null;
        }
        // Whole tuples, so that each tile begins with the first of the lengths.
        int most = KernelContext.TILE / lengths.length * lengths.length;
        return PortableKernel.of((all, context) -> {
            Tensor indices = all.get(0);
            long count = indices.shape().size();
            long[] tile = context.longs(0);
            for (long i = 0; i < count; i += most) {
                int part = (int) Math.min(most, count - i);
                Longs.load(indices, i, tile, 0, part);
                if (lengths.length == 1) {
                    addToNegative(tile, part, lengths[0]);
                } else {
                    addToNegative(tile, part, lengths);
                }
                Longs.store(all.get(1), i, tile, 0, part);
            }
        });
    }

    private static void addToNegative(long[] indices, int count, long length) {
        for (int i = 0; i < count; i++) {
            indices[i] += (indices[i] >> 63) & length;
        }
    }

    private static void addToNegative(long[] indices, int count, long[] lengths) {
        for (int i = 0; i < count; i += lengths.length) {
            for (int j = 0; j < lengths.length; j++) {
                indices[i + j] += (indices[i + j] >> 63) & lengths[j];
            }
        }
    }

    static Kernel oneHot(OneHot oneHot) {
        return PortableKernel.of((all, context) -> {
            long count = all.get(0).shape().size();
            long[] row = context.longs(0);
            for (long i = 0; i < count; i++) {
                Longs.load(all.get(0), i, row, 0, 1);
                if (row[0] < 0 || row[0] >= oneHot.depth()) {
                    throw new IndexRangeException(
                            "one_hot: index number " + i + " must be from 0 to " + (oneHot.depth() - 1) + ", but is "
                                    + row[0]);
                }
            }
            long[] index = context.longs(1);
            for (long i = 0; i < count; i++) {
                Longs.load(all.get(0), i, index, 0, 1);
                for (long j = 0; j < oneHot.depth(); j += row.length) {
                    int length = (int) Math.min(row.length, oneHot.depth() - j);
                    Arrays.fill(row, 0, length, 0);
                    if (index[0] >= j && index[0] < j + length) {
                        row[(int) (index[0] - j)] = 1;
                    }
                    Longs.store(all.get(1), i * oneHot.depth() + j, row, 0, length);
                }
            }
        });
    }

    static Kernel range(Range range) {
        return PortableKernel.of((all, context) -> {
            double[] values = context.doubles(0);
            long count = all.get(0).shape().size();
            for (long i = 0; i < count; i += values.length) {
                int length = (int) Math.min(values.length, count - i);
                for (int j = 0; j < length; j++) {
                    values[j] = range.start() + (i + j) * range.step();
                }
                Doubles.store(all.get(0), i, values, 0, length);
            }
        });
    }

    static Kernel triangle(Triangle triangle, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        long columns = x.shape().dim(-1);
        long rows = x.shape().dim(-2);
        boolean whole = x.dtype().arithmetic() == DType.INT64;
        return PortableKernel.of((all, context) -> {
            for (long row = 0; row < x.shape().size() / Math.max(1, columns); row++) {
                // Columns from this one on are above the diagonal.
                long turn = Math.clamp(row % rows + triangle.diagonal() + (triangle.upper() ? 0 : 1), 0, columns);
                for (long column = 0; column < columns; column += KernelContext.TILE) {
                    int length = (int) Math.min(KernelContext.TILE, columns - column);
                    int from = Math.clamp(turn - column, 0, length);
                    int clearFrom = triangle.upper() ? 0 : from;
                    int clearTo = triangle.upper() ? from : length;
                    if (whole) {
                        long[] tile = context.longs(0);
                        Longs.load(all.get(0), row * columns + column, tile, 0, length);
                        Arrays.fill(tile, clearFrom, clearTo, 0);
                        Longs.store(all.get(1), row * columns + column, tile, 0, length);
                    } else {
                        double[] tile = context.doubles(0);
                        Doubles.load(all.get(0), row * columns + column, tile, 0, length);
                        Arrays.fill(tile, clearFrom, clearTo, 0);
                        Doubles.store(all.get(1), row * columns + column, tile, 0, length);
                    }
                }
            }
        });
    }
}
