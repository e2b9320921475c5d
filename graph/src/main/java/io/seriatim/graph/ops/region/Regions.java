package io.seriatim.graph.ops.region;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Regions of a batch of images: those of the first image, then those of the second, and so on. */
final class Regions {
    private Regions() {
    }

    /** Checks images in X and regions in ROIs, and infers Out: one result a region. */
    static void infer(Inference inference, long channels, String... outputs) {
        long[] x = inference.dims("X");
        long[] regions = inference.dims("ROIs");
        inference.require(x.length == 4, "X must have four dimensions, but is %s", Numbers.text(x));
        inference.require(x[2] != 0 && x[3] != 0, "the images of X must not be empty, but X is %s",
                Numbers.text(x));
        inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("ROIs"),
                "X and ROIs must have one floating-point type, but are %s and %s", inference.dtype("X"),
                inference.dtype("ROIs"));
        inference.require(regions.length == 2 && (regions[1] == 4 || regions[1] < 0),
                "ROIs must be [regions, 4], but are %s", Numbers.text(regions));
        count(inference, x[0]);
        long height = positive(inference, "pooled_height");
        long width = positive(inference, "pooled_width");
        double scale = inference.attrs().getFloat("spatial_scale");
        inference.require(scale > 0 && Double.isFinite(scale),
                "the attribute 'spatial_scale' must be greater than 0, but is %s", scale);
        for (String output : outputs) {
            DType dtype = output.equals("Argmax") ? DType.INT64 : inference.dtype("X");
            inference.set(output, dtype, regions[0], channels, height, width);
        }
    }

    /** Without RoisNum, the offsets of ROIs tell which regions an image has. */
    static void count(Inference inference, long batch) {
        if (!inference.has("RoisNum")) {
            long sequences = inference.sequences("ROIs");
            inference.require(sequences < 0 || batch < 0 || sequences == batch,
                    "the LoD of ROIs must divide them among the %d images, but has %d sequences", batch, sequences);
        } else {
            Indexes.require(inference, "RoisNum");
            long[] counts = inference.dims("RoisNum");
            inference.require(counts.length == 1 && (counts[0] < 0 || batch < 0 || counts[0] == batch),
                    "RoisNum must have a number for each of %d images, but is %s", batch, Numbers.text(counts));
        }
    }

    /** The value of an attribute that is a size. */
    static int positive(Inference inference, String attribute) {
        int size = inference.attrs().getInt(attribute);
        inference.require(size > 0, "the attribute '%s' must be from 1 on, but is %d", attribute, size);
        return size;
    }

    /** The image of each region, int64 [regions]. */
    static Operand images(Lowering l) {
        String type = l.type();
        long count = l.in("ROIs").dim(0);
        boolean counted = l.has("RoisNum");
        Operand images = l.temporary(TensorSpec.of(DType.INT64, count));
        l.call(type + ": the images of regions", (in, out) -> {
            Tensor given = Objects.requireNonNull(in.getFirst());
            long[] counts = counted
                    ? given.toLongArray()
                    : lengths(SequenceOffsets.of(type, "ROIs", given, count));
            Elements.write(images(type, counts, count), Objects.requireNonNull(out.getFirst()));
        }, List.of(counted ? l.in("RoisNum") : l.lod("ROIs")), List.of(images));
        return images;
    }

    private static long[] lengths(long[] offsets) {
        long[] lengths = new long[offsets.length - 1];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = offsets[i + 1] - offsets[i];
        }
        return lengths;
    }

    private static long[] images(String type, long[] counts, long count) {
        long[] images = new long[WorkingMemory.length(count)];
        long from = 0;
        for (int n = 0; n < counts.length; n++) {
            if (counts[n] < 0 || counts[n] > count - from) {
                throw wrong(type, counts, count);
            }
            Arrays.fill(images, (int) from, (int) (from + counts[n]), n);
            from += counts[n];
        }
        if (from != count) {
            throw wrong(type, counts, count);
        }
        return images;
    }

    private static IllegalArgumentException wrong(String type, long[] counts, long count) {
        return new IllegalArgumentException("Operation '" + type + "': RoisNum must tell how many of the " + count
                + " regions in ROIs each image has, but is " + Numbers.text(counts));
    }
}
