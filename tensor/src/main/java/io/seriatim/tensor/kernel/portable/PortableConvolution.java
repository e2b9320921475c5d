package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.BFloat16;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.QuantizedOperands;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import io.seriatim.tensor.kernel.portable.function.UnaryFunctions;
import io.seriatim.tensor.kernel.portable.view.Image;
import io.seriatim.tensor.kernel.portable.view.Steps;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Convolutions and their gradients by the definition, summed in double. */
final class PortableConvolution {
    private PortableConvolution() {
    }

    /** Of 8-bit integers with a floating-point result or one of int32; null for other types. */
    static @Nullable Kernel quantized(Convolution convolution, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec w = Objects.requireNonNull(arguments[1]);
        TensorSpec y = Objects.requireNonNull(arguments[arguments.length - 1]);
        boolean summed = convolution.postOps().isEmpty() && !convolution.bias() && QuantizedOperands.areSummed(x, w, y);
        return summed || QuantizedOperands.fit(PostOp.endInLevels(convolution.postOps()), x, w, y)
                ? forward(convolution, arguments)
                : null;
    }

    static Kernel forward(Convolution convolution, @Nullable TensorSpec[] arguments) {
        Forward forward = new Forward(convolution, arguments);
        return PortableKernel.of(forward::run);
    }

    /** All that a run needs to know. */
    private static final class Forward {
        private final Convolution convolution;
        private final Steps steps;
        private final Image x;
        private final Image w;
        private final Image y;
        private final Epilogue epilogue;
        private final int last;
        private final DType dtype;
        private final boolean toLevels;
        private final boolean toSums;

        Forward(Convolution convolution, @Nullable TensorSpec[] arguments) {
            this.convolution = convolution;
            steps = Steps.of(convolution.window());
            x = Image.of(Objects.requireNonNull(arguments[0]));
            w = Image.of(Objects.requireNonNull(arguments[1]));
            last = arguments.length - 1;
            TensorSpec out = Objects.requireNonNull(arguments[last]);
            y = Image.of(out);
            toLevels = QuantizedOperands.TYPES.contains(out.dtype());
            dtype = out.dtype();
            toSums = out.dtype() == DType.INT32;
            epilogue = new Epilogue(convolution.postOps(), arguments, convolution.bias() ? 3 : 2);
        }

        void run(PortableKernel.Arguments arguments, KernelContext context) {
            int plane = y.plane();
            int inputPlane = x.plane();
            int taps = w.plane();
            double[] array = context.doubleArray(Math.addExact(Math.addExact(plane, inputPlane), taps));
            long outputsOfGroup = w.images() / convolution.groups();
            for (long n = 0; n < x.images(); n++) {
                for (long o = 0; o < w.images(); o++) {
                    Arrays.fill(array, 0, plane, 0);
                    long first = o / Math.max(1, outputsOfGroup) * w.channels();
                    for (long c = 0; c < w.channels(); c++) {
                        x.loadPlane(arguments.get(0), n, first + c, array, plane);
                        w.loadPlane(arguments.get(1), o, c, array, plane + inputPlane);
                        addProducts(array, plane, plane + inputPlane);
                    }
                    finish(arguments, n, o, array, plane);
                    for (int i = 0; i < plane && toLevels; i++) {
                        array[i] = QuantizedOperands.level(dtype, array[i]);
                    }
                    for (int i = 0; i < plane && toSums; i++) {
                        array[i] = (int) (long) array[i];
                    }
                    y.storePlane(arguments.get(last), n, o, array, 0);
                }
            }
        }

        private void addProducts(double[] array, int input, int weights) {
            int tap = weights;
            for (int kz = 0; kz < w.depth(); kz++) {
                for (int ky = 0; ky < w.height(); ky++) {
                    for (int kx = 0; kx < w.width(); kx++) {
                        addProduct(array, input, array[tap++], kz, ky, kx);
                    }
                }
            }
        }

        private void addProduct(double[] array, int input, double weight, int kz, int ky, int kx) {
            int from = steps.firstPlace(kx);
            int to = steps.endPlace(kx, x.width(), y.width());
            int stride = steps.strides()[2];
            for (int z = 0; z < y.depth(); z++) {
                int sz = steps.source(0, z, kz);
                for (int row = 0; row < y.height() && sz >= 0 && sz < x.depth(); row++) {
                    int sy = steps.source(1, row, ky);
                    if (sy < 0 || sy >= x.height()) {
                        continue;
                    }
                    int out = (z * y.height() + row) * y.width();
                    int in = input + (sz * x.height() + sy) * x.width() + steps.source(2, 0, kx);
                    for (int place = from; place < to; place++) {
                        array[out + place] += weight * array[in + place * stride];
                    }
                }
            }
        }

        private void finish(PortableKernel.Arguments arguments, long n, long o, double[] array, int plane) {
            if (convolution.bias()) {
                Tensor biases = arguments.get(2);
                double bias = Doubles.get(biases.memory(), biases.dtype(),
                        biases.offset() + o * biases.spec().strides()[0] * biases.dtype().bytes());
                for (int i = 0; i < plane; i++) {
                    array[i] += bias;
                }
            }
            epilogue.apply(arguments, n, o, array, plane);
        }
    }

    /** The post-ops of a result, plane by plane. */
    private static final class Epilogue {
        private final List<PostOp> postOps;
        private final Image y;
        private final long[][] extra;
        private final int first;
        private final int last;

        /** With the operands from a given one on. */
        Epilogue(List<PostOp> postOps, @Nullable TensorSpec[] arguments, int first) {
            this.postOps = postOps;
            this.first = first;
            last = arguments.length - 1;
            TensorSpec out = Objects.requireNonNull(arguments[last]);
            y = Image.of(out);
            extra = new long[arguments.length][];
            for (int i = first; i < last; i++) {
                TensorSpec spec = Objects.requireNonNull(arguments[i]);
                extra[i] = Image.of(new TensorSpec(spec.dtype(), out.shape(),
                        Layout.strided(Tensor.broadcastStrides(spec, out.shape())))).strides();
            }
        }

        void apply(PortableKernel.Arguments arguments, long n, long o, double[] array, int plane) {
            int next = first;
            for (PostOp postOp : postOps) {
                switch (postOp) {
                    case PostOp.Apply apply -> {
                        for (int i = 0; i < plane; i++) {
                            array[i] = UnaryFunctions.apply(apply.function(), array[i], apply.alpha(), apply.beta());
                        }
                    }
                    case PostOp.Combine combine -> {
                        Tensor other = arguments.get(next);
                        long[] strides = Objects.requireNonNull(extra[next++]);
                        for (int i = 0; i < plane; i++) {
                            array[i] = BinaryFunctions.apply(combine.function(), array[i],
                                    value(other, strides, n, o, i));
                        }
                    }
                    case PostOp.Accumulate accumulate -> {
                        for (int i = 0; i < plane; i++) {
                            array[i] += accumulate.scale() * value(arguments.get(last), y.strides(), n, o, i);
                        }
                    }
                }
            }
        }

        private double value(Tensor tensor, long[] strides, long n, long o, int pixel) {
            long column = pixel % y.width();
            long row = pixel / y.width() % y.height();
            long z = pixel / y.width() / y.height();
            long element = n * strides[0] + o * strides[1] + z * strides[2] + row * strides[3] + column * strides[4];
            return Doubles.get(tensor.memory(), tensor.dtype(), tensor.offset() + element * tensor.dtype().bytes());
        }
    }

    static Kernel gradInput(ConvolutionGradInput grad, @Nullable TensorSpec[] arguments) {
        Steps steps = Steps.of(grad.window());
        Image dy = Image.of(Objects.requireNonNull(arguments[0]));
        Image w = Image.of(Objects.requireNonNull(arguments[1]));
        int last = arguments.length - 1;
        Image dx = Image.of(Objects.requireNonNull(arguments[last]));
        Epilogue epilogue = new Epilogue(grad.postOps(), arguments, 2);
        return PortableKernel.of((all, context) -> {
            int plane = dx.plane();
            double[] array = context.doubleArray(Math.addExact(Math.addExact(plane, dy.plane()), w.plane()));
            long outputs = w.images() / grad.groups();
            for (long n = 0; n < dx.images(); n++) {
                for (long c = 0; c < dx.channels(); c++) {
                    Arrays.fill(array, 0, plane, 0);
                    long group = c / w.channels();
                    for (long o = group * outputs; o < (group + 1) * outputs; o++) {
                        dy.loadPlane(all.get(0), n, o, array, plane);
                        w.loadPlane(all.get(1), o, c % w.channels(), array, plane + dy.plane());
                        spread(steps, dx, w, dy, array);
                    }
                    epilogue.apply(all, n, c, array, plane);
                    dx.storePlane(all.get(last), n, c, array, 0);
                }
            }
        });
    }

    /** Adds each gradient, times each weight, to the input that the two meet at. */
    private static void spread(Steps steps, Image dx, Image w, Image dy, double[] array) {
        int input = dx.plane();
        int tap = input + dy.plane();
        for (int kz = 0; kz < w.depth(); kz++) {
            for (int ky = 0; ky < w.height(); ky++) {
                for (int kx = 0; kx < w.width(); kx++) {
                    double weight = array[tap++];
                    for (int z = 0; z < dy.depth(); z++) {
                        int sz = steps.source(0, z, kz);
                        for (int row = 0; row < dy.height() && sz >= 0 && sz < dx.depth(); row++) {
                            int sy = steps.source(1, row, ky);
                            if (sy >= 0 && sy < dx.height()) {
                                spreadRow(steps, dx, dy, array, weight, kx,
                                        input + (z * dy.height() + row) * dy.width(),
                                        (sz * dx.height() + sy) * dx.width());
                            }
                        }
                    }
                }
            }
        }
    }

    private static void spreadRow(Steps steps, Image dx, Image dy, double[] array, double weight, int kx, int from,
            int to) {
        int end = steps.endPlace(kx, dx.width(), dy.width());
        int start = to + steps.source(2, 0, kx);
        int stride = steps.strides()[2];
        for (int place = steps.firstPlace(kx); place < end; place++) {
            array[start + place * stride] += weight * array[from + place];
        }
    }

    static Kernel gradWeights(ConvolutionGradWeights grad, @Nullable TensorSpec[] arguments) {
        return gradWeights(grad, arguments, null, 2);
    }

    static Kernel addWeights(ConvolutionAddWeights add, @Nullable TensorSpec[] arguments) {
        return gradWeights(add.gradient(), arguments, Image.of(Objects.requireNonNull(arguments[2])), 3);
    }

    private static Kernel gradWeights(ConvolutionGradWeights grad, @Nullable TensorSpec[] arguments,
            @Nullable Image sum, int slot) {
        Steps steps = Steps.of(grad.window());
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image dy = Image.of(Objects.requireNonNull(arguments[1]));
        TensorSpec result = Objects.requireNonNull(arguments[slot]);
        Image dw = Image.of(result);
        return PortableKernel.of((all, context) -> {
            int taps = dw.plane();
            int planes = Math.addExact(Math.addExact(taps, x.plane()), dy.plane());
            double[] array = context.doubleArray(Math.addExact(planes, taps));
            long outputs = dw.images() / grad.groups();
            for (long o = 0; o < dw.images(); o++) {
                long first = o / Math.max(1, outputs) * dw.channels();
                for (long c = 0; c < dw.channels(); c++) {
                    Arrays.fill(array, 0, taps, 0);
                    for (long n = 0; n < x.images(); n++) {
                        x.loadPlane(all.get(0), n, first + c, array, taps);
                        dy.loadPlane(all.get(1), n, o, array, taps + x.plane());
                        collect(steps, x, dw, dy, array);
                    }
                    if (sum != null) {
                        sum.loadPlane(all.get(2), o, c, array, planes);
                        for (int i = 0; i < taps; i++) {
                            array[i] = rounded(array[i], result.dtype()) + array[planes + i];
                        }
                    }
                    dw.storePlane(all.get(slot), o, c, array, 0);
                }
            }
            if (grad.bias()) {
                sumPlanes(dy, all.get(1), all.get(3), array);
            }
        });
    }

    /** As it would be stored before it is added. */
    private static double rounded(double value, DType dtype) {
        return switch (dtype) {
            case FLOAT64 -> value;
            case BFLOAT16 -> BFloat16.toFloat(BFloat16.fromFloat((float) value));
            case FLOAT16 -> Float.float16ToFloat(Float.floatToFloat16((float) value));
            default -> (float) value;
        };
    }

    private static void collect(Steps steps, Image x, Image dw, Image dy, double[] array) {
        int input = dw.plane();
        int output = input + x.plane();
        int tap = 0;
        for (int kz = 0; kz < dw.depth(); kz++) {
            for (int ky = 0; ky < dw.height(); ky++) {
                for (int kx = 0; kx < dw.width(); kx++) {
                    double sum = 0;
                    for (int z = 0; z < dy.depth(); z++) {
                        int sz = steps.source(0, z, kz);
                        for (int row = 0; row < dy.height() && sz >= 0 && sz < x.depth(); row++) {
                            int sy = steps.source(1, row, ky);
                            if (sy >= 0 && sy < x.height()) {
                                sum += dot(steps, x, dy, array, kx, input + (sz * x.height() + sy) * x.width(),
                                        output + (z * dy.height() + row) * dy.width());
                            }
                        }
                    }
                    array[tap++] += sum;
                }
            }
        }
    }

    private static double dot(Steps steps, Image x, Image dy, double[] array, int kx, int input, int output) {
        int end = steps.endPlace(kx, x.width(), dy.width());
        int start = input + steps.source(2, 0, kx);
        int stride = steps.strides()[2];
        double sum = 0;
        for (int place = steps.firstPlace(kx); place < end; place++) {
            sum += array[start + place * stride] * array[output + place];
        }
        return sum;
    }

    private static void sumPlanes(Image dy, Tensor gradient, Tensor into, double[] array) {
        for (long o = 0; o < dy.channels(); o++) {
            double sum = 0;
            for (long n = 0; n < dy.images(); n++) {
                dy.loadPlane(gradient, n, o, array, 0);
                for (int i = 0; i < dy.plane(); i++) {
                    sum += array[i];
                }
            }
            Doubles.set(into.memory(), into.dtype(),
                    into.offset() + o * into.spec().strides()[0] * into.dtype().bytes(), sum);
        }
    }
}
