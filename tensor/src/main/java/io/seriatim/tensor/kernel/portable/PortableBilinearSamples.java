package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.portable.view.Image;
import io.seriatim.tensor.kernel.portable.view.SampledPlane;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Samples of images between their elements, one channel after the other, in double. */
final class PortableBilinearSamples {
    private PortableBilinearSamples() {
    }

    private static SampledPlane plane(@Nullable TensorSpec[] arguments, int images, int places) {
        return new SampledPlane(Objects.requireNonNull(arguments[images]), Objects.requireNonNull(arguments[places]));
    }

    static Kernel forward(@Nullable TensorSpec[] arguments) {
        SampledPlane plane = plane(arguments, 0, 1);
        Image image = plane.image();
        return PortableKernel.of((all, context) -> {
            double[] array = plane.array(context);
            for (long n = 0; n < image.images(); n++) {
                plane.prepare(all.get(1), all.optional(2), n, array);
                for (long c = 0; c < image.channels(); c++) {
                    plane.load(all.get(0), n, c, array);
                    plane.gather(array);
                    Doubles.store(all.get(3), (n * image.channels() + c) * plane.samples, array, plane.values,
                            plane.samples);
                }
            }
        });
    }

    static Kernel gradImages(@Nullable TensorSpec[] arguments) {
        SampledPlane plane = plane(arguments, 3, 0);
        Image image = plane.image();
        return PortableKernel.of((all, context) -> {
            double[] array = plane.array(context);
            for (long n = 0; n < image.images(); n++) {
                plane.prepare(all.get(0), all.optional(1), n, array);
                for (long c = 0; c < image.channels(); c++) {
                    plane.clear(array);
                    Doubles.load(all.get(2), (n * image.channels() + c) * plane.samples, array, plane.values,
                            plane.samples);
                    plane.scatter(array);
                    plane.store(all.get(3), n, c, array);
                }
            }
        });
    }

    static Kernel gradPlaces(@Nullable TensorSpec[] arguments) {
        SampledPlane plane = plane(arguments, 0, 1);
        Image image = plane.image();
        int samples = plane.samples;
        return PortableKernel.of((all, context) -> {
            double[] array = plane.array(context);
            double[] rows = new double[samples];
            double[] columns = new double[samples];
            double[] products = new double[samples];
            for (long n = 0; n < image.images(); n++) {
                plane.prepare(all.get(1), all.optional(2), n, array);
                Arrays.fill(rows, 0);
                Arrays.fill(columns, 0);
                Arrays.fill(products, 0);
                for (long c = 0; c < image.channels(); c++) {
                    plane.load(all.get(0), n, c, array);
                    Doubles.load(all.get(3), (n * image.channels() + c) * samples, array, plane.values, samples);
                    for (int i = 0; i < samples; i++) {
                        double gradient = array[plane.values + i];
                        double weighted = gradient * plane.weight(array, i);
                        rows[i] += weighted * plane.slopeOfRow(array, i);
                        columns[i] += weighted * plane.slopeOfColumn(array, i);
                        products[i] += gradient * plane.sample(array, i);
                    }
                }
                if (all.optional(4) != null) {
                    Doubles.store(all.get(4), 2 * n * samples, rows, 0, samples);
                    Doubles.store(all.get(4), (2 * n + 1) * samples, columns, 0, samples);
                }
                if (all.optional(5) != null) {
                    Doubles.store(all.get(5), n * samples, products, 0, samples);
                }
            }
        });
    }
}
