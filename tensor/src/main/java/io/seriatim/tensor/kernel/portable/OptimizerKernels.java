package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.RowUpdate;
import io.seriatim.tensor.computation.network.Update;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Optimizer steps, a tile at a time: parameter, gradient and accumulators are loaded into arrays, updated there in
 * loops that the JIT compiles to vector instructions, and stored. Every byte is read and written once, except for Lamb,
 * which needs the norms of its whole step first.
 */
final class OptimizerKernels {
    private static final List<DType> TYPES = List.of(DType.FLOAT32, DType.FLOAT64);
    // The tiles 0 to 4 hold the parameter, its gradient and the accumulators.
    private static final int SUMS = 5;

    private OptimizerKernels() {
    }

    static void register(Kernels kernels) {
        register(kernels, "sgd", Update.Sgd.class);
        register(kernels, "momentum", Update.Momentum.class);
        register(kernels, "adam", Update.Adam.class);
        register(kernels, "adagrad", Update.Adagrad.class);
        register(kernels, "adadelta", Update.Adadelta.class);
        register(kernels, "adamax", Update.Adamax.class);
        register(kernels, "rmsprop", Update.RmsProp.class);
        register(kernels, "lamb", Update.Lamb.class);
        for (String step : List.of("sgd", "momentum", "adam", "adagrad", "adadelta", "adamax", "rmsprop")) {
            kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, step + "_rows", RowUpdate.class, TYPES,
                    OptimizerKernels::rowKernel);
        }
    }

    private static <U extends Update> void register(Kernels kernels, String operation, Class<U> type) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, operation, type, TYPES,
                OptimizerKernels::kernel);
    }

    private static Kernel kernel(Update update, @Nullable TensorSpec[] arguments) {
        int skip = update.skip();
        return PortableKernel.of((all, context) -> {
            if (all.all().length > skip && isTrue(all.optional(skip))) {
                return;
            }
            Rates rates = Rates.of(update, all);
            steps(update, all, context, rates);
            rates.advance(update, all);
        });
    }

    private static boolean isTrue(@Nullable Tensor flag) {
        return flag != null && flag.memory().get(ValueLayout.JAVA_BYTE, flag.offset()) != 0;
    }

    private static void steps(Update update, PortableKernel.Arguments all, KernelContext context, Rates rates) {
        long count = all.get(0).shape().size();
        boolean single = all.get(0).dtype() == DType.FLOAT32;
        for (long i = 0; i < count; i += KernelContext.TILE) {
            int length = (int) Math.min(KernelContext.TILE, count - i);
            if (single) {
                load(all.get(1), i, context.floats(1), length);
                for (int k = 0; k <= update.accumulators(); k++) {
                    load(state(all, k), i, context.floats(tile(k)), length);
                }
                step(update, length, context, rates);
                for (int k = 0; k <= update.accumulators(); k++) {
                    store(state(all, k), i, context.floats(tile(k)), length);
                }
            } else {
                Doubles.load(all.get(1), i, context.doubles(1), 0, length);
                for (int k = 0; k <= update.accumulators(); k++) {
                    Doubles.load(state(all, k), i, context.doubles(tile(k)), 0, length);
                }
                stepInDouble(update, length, context, rates);
                for (int k = 0; k <= update.accumulators(); k++) {
                    Doubles.store(state(all, k), i, context.doubles(tile(k)), 0, length);
                }
            }
        }
    }

    private static Kernel rowKernel(RowUpdate update, @Nullable TensorSpec[] arguments) {
        return PortableKernel.of((all, context) -> rows(update.step(), all, context));
    }

    /** The rows are gathered into tiles, so that narrow ones are updated in long loops, too. */
    private static void rows(Update update, PortableKernel.Arguments all, KernelContext context) {
        Rates rates = Rates.of(update, all);
        RowPlaces places = RowPlaces.of(all, update);
        long height = all.get(0).shape().dim(0);
        long width = height == 0 ? 0 : all.get(0).shape().size() / height;
        int together = (int) Math.max(1, KernelContext.TILE / Math.max(1, width));
        for (int row = 0; row < places.count(); row += together) {
            int rows = Math.min(together, places.count() - row);
            for (long first = 0; first < width; first += KernelContext.TILE) {
                int length = (int) Math.min(KernelContext.TILE, width - first);
                if (all.get(0).dtype() == DType.FLOAT32) {
                    rowsOfFloats(update, all, places, row, rows, first, length, context, rates);
                } else {
                    rowsOfDoubles(update, all, places, row, rows, first, length, context, rates);
                }
            }
        }
        rates.advance(update, all);
    }

    private static void rowsOfFloats(Update update, PortableKernel.Arguments all, RowPlaces places, int row, int rows,
            long first, int length, KernelContext context, Rates rates) {
        float[] gradient = context.floats(1);
        for (int k = 0; k < rows; k++) {
            int at = k * length;
            for (int i = 0; i <= update.accumulators(); i++) {
                Tensor state = state(all, i);
                Floats.load(state.memory(), DType.FLOAT32, address(state, places.row(row + k), first), 1,
                        context.floats(tile(i)), at, length);
            }
            if (places.times(row + k) == 1) {
                Floats.load(all.get(1).memory(), DType.FLOAT32, address(all.get(1), places.place(row + k, 0), first), 1,
                        gradient, at, length);
            } else {
                sum(all.get(1), places, row + k, first, length, context);
                for (int i = 0; i < length; i++) {
                    gradient[at + i] = (float) context.doubles(SUMS)[i];
                }
            }
        }
        step(update, rows * length, context, rates);
        for (int k = 0; k < rows; k++) {
            for (int i = 0; i <= update.accumulators(); i++) {
                Tensor state = state(all, i);
                Floats.store(state.memory(), DType.FLOAT32, address(state, places.row(row + k), first), 1,
                        context.floats(tile(i)), k * length, length);
            }
        }
    }

    private static void rowsOfDoubles(Update update, PortableKernel.Arguments all, RowPlaces places, int row, int rows,
            long first, int length, KernelContext context, Rates rates) {
        for (int k = 0; k < rows; k++) {
            for (int i = 0; i <= update.accumulators(); i++) {
                Tensor state = state(all, i);
                Doubles.load(state.memory(), state.dtype(), address(state, places.row(row + k), first), 1,
                        context.doubles(tile(i)), k * length, length);
            }
            sum(all.get(1), places, row + k, first, length, context);
            System.arraycopy(context.doubles(SUMS), 0, context.doubles(1), k * length, length);
        }
        stepInDouble(update, rows * length, context, rates);
        for (int k = 0; k < rows; k++) {
            for (int i = 0; i <= update.accumulators(); i++) {
                Tensor state = state(all, i);
                Doubles.store(state.memory(), state.dtype(), address(state, places.row(row + k), first), 1,
                        context.doubles(tile(i)), k * length, length);
            }
        }
    }

    /** The sum, in double, of what the gradient holds for a part of a row. */
    private static void sum(Tensor gradient, RowPlaces places, int row, long first, int length,
            KernelContext context) {
        double[] sums = context.doubles(SUMS);
        double[] more = context.doubles(SUMS + 1);
        for (int time = 0; time < places.times(row); time++) {
            Doubles.load(gradient.memory(), gradient.dtype(), address(gradient, places.place(row, time), first), 1,
                    time == 0 ? sums : more, 0, length);
            for (int i = 0; time > 0 && i < length; i++) {
                sums[i] += more[i];
            }
        }
    }

    /** The parameter for 0, else an accumulator. */
    private static Tensor state(PortableKernel.Arguments all, int number) {
        return all.get(number == 0 ? 0 : 2 + number);
    }

    /** The tile of a {@link #state}; tile 1 holds the gradient. */
    private static int tile(int number) {
        return number == 0 ? 0 : 1 + number;
    }

    /** Where an element of a row lies; the elements of a row lie side by side. */
    private static long address(Tensor tensor, long row, long element) {
        return tensor.offset() + (row * tensor.spec().strides()[0] + element) * tensor.dtype().bytes();
    }

    /** The rows that a gradient holds, in ascending order, and where it holds them. */
    private static final class RowPlaces {
        private final int count;
        // Of these, the first elements are used.
        private final long[] rows;
        // For each row where its places begin, and where those of the last end.
        private final int[] starts;
        private final int[] places;

        private RowPlaces(int count, long[] rows, int[] starts, int[] places) {
            this.count = count;
            this.rows = rows;
            this.starts = starts;
            this.places = places;
        }

        static RowPlaces of(PortableKernel.Arguments all, Update update) {
            long[] indexes = all.get(update.skip()).toLongArray();
            long height = all.get(0).shape().dim(0);
            for (int i = 0; i < indexes.length; i++) {
                if (indexes[i] < 0 || indexes[i] >= height) {
                    throw new IllegalArgumentException(update.operation() + ": rows must be from 0 to " + (height - 1)
                            + ", but place " + i + " holds " + indexes[i]);
                }
            }
            // Rows and places are sorted as one number each.
            int length = indexes.length;
            Math.multiplyExact(height, (long) length);
            long[] sorted = new long[length];
            for (int i = 0; i < length; i++) {
                sorted[i] = indexes[i] * length + i;
            }
            Arrays.sort(sorted);
            long[] rows = new long[length];
            int[] starts = new int[length + 1];
            int[] places = new int[length];
            int count = 0;
            for (int i = 0; i < length; i++) {
                long row = sorted[i] / length;
                places[i] = (int) (sorted[i] % length);
                if (count == 0 || row != rows[count - 1]) {
                    rows[count] = row;
                    starts[count++] = i;
                }
            }
            starts[count] = length;
            return new RowPlaces(count, rows, starts, places);
        }

        int count() {
            return count;
        }

        long row(int number) {
            return rows[number];
        }

        int times(int number) {
            return starts[number + 1] - starts[number];
        }

        int place(int number, int time) {
            return places[starts[number] + time];
        }
    }

    /** The values that are the same for all elements of a step. */
    private record Rates(double lr, double pow1, double pow2, double trust) {
        static Rates of(Update update, PortableKernel.Arguments all) {
            int at = 3 + update.accumulators();
            double lr = get(all.get(2));
            double pow1 = update.scalars() > 0 ? get(all.get(at)) : 0;
            double pow2 = update.scalars() > 1 ? get(all.get(at + 1)) : 0;
            Rates rates = new Rates(lr, pow1, pow2, 1);
            return update instanceof Update.Lamb lamb ? new Rates(lr, pow1, pow2, trust(lamb, all, rates)) : rates;
        }

        /** ‖p‖ / ‖d‖ of a Lamb step. */
        private static double trust(Update.Lamb lamb, PortableKernel.Arguments all, Rates rates) {
            double parameters = 0;
            double directions = 0;
            double[] tile = new double[4];
            for (long i = 0; i < all.get(0).shape().size(); i++) {
                for (int k = 0; k < 4; k++) {
                    Doubles.load(all.get(k < 2 ? k : k + 1), i, tile, k, 1);
                }
                double m = lamb.beta1() * tile[2] + (1 - lamb.beta1()) * tile[1];
                double v = lamb.beta2() * tile[3] + (1 - lamb.beta2()) * tile[1] * tile[1];
                double d = direction(lamb, tile[0], m, v, rates);
                parameters += tile[0] * tile[0];
                directions += d * d;
            }
            return parameters > 0 && directions > 0 ? Math.sqrt(parameters) / Math.sqrt(directions) : 1;
        }

        void advance(Update update, PortableKernel.Arguments all) {
            int at = 3 + update.accumulators();
            switch (update) {
                case Update.Adam adam -> {
                    set(all.get(at), pow1 * adam.beta1());
                    set(all.get(at + 1), pow2 * adam.beta2());
                }
                case Update.Lamb lamb -> {
                    set(all.get(at), pow1 * lamb.beta1());
                    set(all.get(at + 1), pow2 * lamb.beta2());
                }
                default -> {
                    // Other optimizers have no powers, or update them in a later operation.
                }
            }
        }
    }

    private static double direction(Update.Lamb lamb, double p, double m, double v, Rates rates) {
        return m / (1 - rates.pow1()) / (Math.sqrt(v / (1 - rates.pow2())) + lamb.epsilon()) + lamb.decay() * p;
    }

    private static double get(Tensor tensor) {
        return Doubles.get(tensor.memory(), tensor.dtype(), tensor.offset());
    }

    private static void set(Tensor tensor, double value) {
        Doubles.set(tensor.memory(), tensor.dtype(), tensor.offset(), value);
    }

    /** Updates the first elements of the tiles: parameter in tile 0, its gradient in 1, then the accumulators. */
    private static void step(Update update, int n, KernelContext context, Rates rates) {
        float[] p = context.floats(0);
        float[] g = context.floats(1);
        float[] a = context.floats(2);
        float[] b = context.floats(3);
        float[] c = context.floats(4);
        float lr = (float) rates.lr();
        switch (update) {
            case Update.Sgd _ -> {
                for (int i = 0; i < n; i++) {
                    p[i] -= lr * g[i];
                }
            }
            case Update.Momentum(float mu, boolean nesterov, float decay) -> {
                float ahead = nesterov ? mu : 0;
                for (int i = 0; i < n; i++) {
                    float grad = decay == 0 ? g[i] : g[i] + decay * p[i];
                    a[i] = mu * a[i] + grad;
                    p[i] -= nesterov ? lr * (grad + ahead * a[i]) : lr * a[i];
                }
            }
            case Update.Adam adam -> adam(adam, p, g, a, b, n, rates);
            case Update.Adagrad(float epsilon) -> {
                for (int i = 0; i < n; i++) {
                    a[i] += g[i] * g[i];
                    p[i] -= lr * g[i] / ((float) Math.sqrt(a[i]) + epsilon);
                }
            }
            case Update.Adadelta(float rho, float epsilon) -> {
                for (int i = 0; i < n; i++) {
                    a[i] = rho * a[i] + (1 - rho) * g[i] * g[i];
                    float u = -(float) Math.sqrt((b[i] + epsilon) / (a[i] + epsilon)) * g[i];
                    b[i] = rho * b[i] + (1 - rho) * u * u;
                    p[i] += lr * u;
                }
            }
            case Update.Adamax(float beta1, float beta2, float epsilon) -> {
                float rate = (float) (rates.lr() / (1 - rates.pow1()));
                for (int i = 0; i < n; i++) {
                    a[i] = beta1 * a[i] + (1 - beta1) * g[i];
                    b[i] = Math.max(Math.abs(g[i]), beta2 * b[i] + epsilon);
                    p[i] -= rate * (a[i] / b[i]);
                }
            }
            case Update.RmsProp(float rho, float epsilon, float momentum, boolean centered) -> {
                float center = centered ? 1 : 0;
                for (int i = 0; i < n; i++) {
                    b[i] = rho * b[i] + (1 - rho) * g[i] * g[i];
                    c[i] = centered ? rho * c[i] + (1 - rho) * g[i] : c[i];
                    a[i] = momentum * a[i] + lr * g[i] / (float) Math.sqrt(b[i] - center * c[i] * c[i] + epsilon);
                    p[i] -= a[i];
                }
            }
            case Update.Lamb lamb -> {
                for (int i = 0; i < n; i++) {
                    a[i] = lamb.beta1() * a[i] + (1 - lamb.beta1()) * g[i];
                    b[i] = lamb.beta2() * b[i] + (1 - lamb.beta2()) * g[i] * g[i];
                    p[i] -= (float) (rates.lr() * rates.trust() * direction(lamb, p[i], a[i], b[i], rates));
                }
            }
        }
    }

    private static void adam(Update.Adam adam, float[] p, float[] g, float[] m, float[] v, int n, Rates rates) {
        double correction = Math.sqrt(1 - rates.pow2());
        float rate = (float) (rates.lr() * correction / (1 - rates.pow1()));
        float epsilon = (float) (adam.epsilon() * correction);
        float keep = (float) (1 - rates.lr() * adam.decay());
        float beta1 = adam.beta1();
        float beta2 = adam.beta2();
        float rest1 = 1 - beta1;
        float rest2 = 1 - beta2;
        for (int i = 0; i < n; i++) {
            m[i] = beta1 * m[i] + rest1 * g[i];
            v[i] = beta2 * v[i] + rest2 * g[i] * g[i];
            p[i] = keep * p[i] - rate * (m[i] / ((float) Math.sqrt(v[i]) + epsilon));
        }
    }

    private static void load(Tensor tensor, long first, float[] into, int n) {
        Floats.load(tensor.memory(), DType.FLOAT32, tensor.offset() + first * Float.BYTES, 1, into, 0, n);
    }

    private static void store(Tensor tensor, long first, float[] values, int n) {
        Floats.store(tensor.memory(), DType.FLOAT32, tensor.offset() + first * Float.BYTES, 1, values, 0, n);
    }

    private static void stepInDouble(Update update, int n, KernelContext context, Rates rates) {
        double[][] states = {context.doubles(2), context.doubles(3), context.doubles(4)};
        double[] p = context.doubles(0);
        double[] g = context.doubles(1);
        for (int i = 0; i < n; i++) {
            p[i] = element(update, p[i], g[i], states, i, rates);
        }
    }

    /** The parameter's new value; the accumulators are changed in place. */
    private static double element(Update update, double p, double g, double[][] states, int i, Rates rates) {
        double[] a = states[0];
        double[] b = states[1];
        double[] c = states[2];
        double lr = rates.lr();
        switch (update) {
            case Update.Sgd _ -> {
                return p - lr * g;
            }
            case Update.Momentum(float mu, boolean nesterov, float decay) -> {
                double grad = decay == 0 ? g : g + decay * p;
                a[i] = mu * a[i] + grad;
                return nesterov ? p - lr * (grad + mu * a[i]) : p - lr * a[i];
            }
            case Update.Adam(float beta1, float beta2, float epsilon, float decay) -> {
                double correction = Math.sqrt(1 - rates.pow2());
                a[i] = beta1 * a[i] + (1 - beta1) * g;
                b[i] = beta2 * b[i] + (1 - beta2) * g * g;
                return p * (1 - lr * decay)
                        - lr * correction / (1 - rates.pow1()) * a[i] / (Math.sqrt(b[i]) + epsilon * correction);
            }
            case Update.Adagrad(float epsilon) -> {
                a[i] += g * g;
                return p - lr * g / (Math.sqrt(a[i]) + epsilon);
            }
            case Update.Adadelta(float rho, float epsilon) -> {
                a[i] = rho * a[i] + (1 - rho) * g * g;
                double u = -Math.sqrt((b[i] + epsilon) / (a[i] + epsilon)) * g;
                b[i] = rho * b[i] + (1 - rho) * u * u;
                return p + lr * u;
            }
            case Update.Adamax(float beta1, float beta2, float epsilon) -> {
                a[i] = beta1 * a[i] + (1 - beta1) * g;
                b[i] = Math.max(Math.abs(g), beta2 * b[i] + epsilon);
                return p - lr / (1 - rates.pow1()) * a[i] / b[i];
            }
            case Update.RmsProp(float rho, float epsilon, float momentum, boolean centered) -> {
                b[i] = rho * b[i] + (1 - rho) * g * g;
                c[i] = centered ? rho * c[i] + (1 - rho) * g : c[i];
                a[i] = momentum * a[i] + lr * g / Math.sqrt(b[i] - (centered ? c[i] * c[i] : 0) + epsilon);
                return p - a[i];
            }
            case Update.Lamb lamb -> {
                a[i] = lamb.beta1() * a[i] + (1 - lamb.beta1()) * g;
                b[i] = lamb.beta2() * b[i] + (1 - lamb.beta2()) * g * g;
                return p - lr * rates.trust() * direction(lamb, p, a[i], b[i], rates);
            }
        }
    }
}
