package io.seriatim.graph.op;

import io.seriatim.graph.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.PutAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Maxima of windows, and where in the image each is; and products along an axis. */
final class PoolPlaceOperations {
    private PoolPlaceOperations() {
    }

    static void register(Operations registry) {
        pool(registry);
        products(registry);
    }

    /** Windows along one axis. */
    private record Windows(long length, long size, long stride, long padding, boolean adaptive) {
        static Windows of(Attrs attrs, long length, int axis) {
            if (attrs.getBool("global_pooling")) {
                return new Windows(length, length, 1, 0, false);
            }
            return new Windows(length, attrs.getInts("ksize")[axis], attrs.getInts("strides")[axis], attrs.getInts("paddings")[axis],
                    attrs.getBool("adaptive"));
        }

        long places() {
            return length < 0 ? -1 : adaptive ? size : Math.floorDiv(length + 2 * padding - size, stride) + 1;
        }

        int from(int place) {
            return (int) (adaptive ? place * length / size : Math.max(0, place * stride - padding));
        }

        int to(int place) {
            return (int) (adaptive ? ((place + 1) * length + size - 1) / size : Math.min(length, place * stride - padding + size));
        }
    }

    private static void pool(Operations registry) {
        Operation.Builder forward = Operation.define("max_pool2d_with_index").in("X").out("Out", "Mask")
                .required("ksize", Attribute.Ints.class).attr("strides", new int[]{1, 1}).attr("paddings", new int[]{0, 0})
                .attr("global_pooling", false).attr("adaptive", false);
        String gradient = "max_pool2d_with_index_grad(X, Mask, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(l -> {
            long[] dims = l.outType("X@GRAD", 0).dims();
            Operand dout = l.in("Out@GRAD");
            long places = dout.dim(2) * dout.dim(3);
            Operand zeros = l.fill(0, l.outType("X@GRAD", 0).spec()).reshape(dims[0], dims[1], dims[2] * dims[3]);
            l.out("X@GRAD", l.run(new PutAlongAxis(2, true), zeros, l.reshape(l.in("Mask"), dims[0], dims[1], places),
                    l.reshape(dout, dims[0], dims[1], places)).reshape(dims));
        }).register(registry);
        forward.infer(inference -> {
            long[] x = inference.dims("X");
            Attrs attrs = inference.attrs();
            int[] kernel = attrs.getInts("ksize");
            int[] strides = attrs.getInts("strides");
            int[] paddings = attrs.getInts("paddings");
            inference.require(x.length == 4 && kernel.length == 2 && strides.length == 2 && paddings.length == 2,
                    "X must have four dimensions and ksize, strides and paddings two numbers, but they are %s, %s, %s and %s",
                    Arrays.toString(x), Arrays.toString(kernel), Arrays.toString(strides), Arrays.toString(paddings));
            for (int i = 0; i < 2; i++) {
                inference.require(kernel[i] > 0 && strides[i] > 0 && paddings[i] >= 0 && paddings[i] < kernel[i],
                        "ksize and strides must be from 1 on, and paddings from 0 to less than ksize, but are %d, %d and %d", kernel[i],
                        strides[i],
                        paddings[i]);
                x[2 + i] = Windows.of(attrs, x[2 + i], i).places();
                inference.require(x[2 + i] == -1 || x[2 + i] > 0, "no window fits into spatial axis %d of X", i);
            }
            inference.set("Out", inference.dtype("X"), x);
            inference.set("Mask", DType.INT32, x);
        }).lower(PoolPlaceOperations::pool).grad(gradient).register(registry);
    }

    private static void pool(Lowering l) {
        Operand x = l.in("X");
        Operand values = l.temporary(l.outType("Out", 0).spec());
        Operand places = l.temporary(values.spec().with(DType.INT32));
        Windows rows = Windows.of(l.attrs(), x.dim(2), 0);
        Windows columns = Windows.of(l.attrs(), x.dim(3), 1);
        l.call("max_pool2d_with_index", (in, out) -> {
            double[] images = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            double[] largest = new double[Math.toIntExact(values.shape().size())];
            long[] at = new long[largest.length];
            int each = Math.toIntExact(rows.length() * columns.length());
            int all = Math.toIntExact(rows.places() * columns.places());
            for (int i = 0; i < largest.length; i++) {
                int row = (int) (i % all / columns.places());
                int column = (int) (i % columns.places());
                int best = -1;
                for (int h = rows.from(row); h < rows.to(row); h++) {
                    for (int w = columns.from(column); w < columns.to(column); w++) {
                        int place = (int) (h * columns.length() + w);
                        if (best < 0 || images[i / all * each + place] > images[i / all * each + best]) {
                            best = place;
                        }
                    }
                }
                at[i] = best;
                largest[i] = images[i / all * each + best];
            }
            Elements.write(largest, Objects.requireNonNull(out.get(0)));
            Elements.write(at, Objects.requireNonNull(out.get(1)));
        }, List.of(x), List.of(values, places));
        l.out("Out", values);
        l.out("Mask", places);
    }

    private static void products(Operations registry) {
        Operation.define("cumprod").in("X").out("Out").required("dim", Attribute.Int.class).infer(inference -> {
            inference.axis("X", inference.attrs().getInt("dim"));
            inference.require(inference.dtype("X") != DType.BOOL, "X must be of numbers, but is bool: cast it");
            inference.same("X", "Out");
        }).lower(l -> {
            Operand x = l.in("X");
            long length = x.rank() == 0 ? 1 : x.dim(l.attrs().getInt("dim"));
            long inner = inner(l, x);
            Operand result = l.temporary(x.spec());
            l.call("cumprod", (in, out) -> {
                double[] values = Objects.requireNonNull(in.getFirst()).toDoubleArray();
                for (int i = 0; i < values.length; i++) {
                    values[i] *= i / inner % length == 0 ? 1 : values[(int) (i - inner)];
                }
                Elements.write(values, Objects.requireNonNull(out.getFirst()));
            }, List.of(x), List.of(result));
            l.out("Out", result);
        }).grad("cumprod_grad(X, Out, Out@GRAD) -> X@GRAD", l -> {
            Operand x = l.in("X");
            long length = x.rank() == 0 ? 1 : x.dim(l.attrs().getInt("dim"));
            long inner = inner(l, x);
            Operand result = l.temporary(x.spec());
            l.call("cumprod_grad", (in, out) -> Elements.write(
                    backward(Objects.requireNonNull(in.get(0)).toDoubleArray(), Objects.requireNonNull(in.get(1)).toDoubleArray(),
                            (int) length, (int) inner),
                    Objects.requireNonNull(out.getFirst())), List.of(x, l.in("Out@GRAD")), List.of(result));
            l.out("X@GRAD", result);
        }).register(registry);
    }

    private static long inner(Lowering l, Operand x) {
        long inner = 1;
        for (int i = x.rank() - 1; x.rank() > 0 && i > x.shape().axis(l.attrs().getInt("dim")); i--) {
            inner *= x.dim(i);
        }
        return inner;
    }

    /** By the products of all but one element, so that zeros need no rule of their own. */
    private static double[] backward(double[] x, double[] dout, int length, int inner) {
        double[] dx = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            int first = i - i / inner % length * inner;
            double others = 1;
            for (int k = first; k < first + length * inner; k += inner) {
                others *= k == i ? 1 : x[k];
                dx[i] += k >= i ? dout[k] * others : 0;
            }
        }
        return dx;
    }
}
