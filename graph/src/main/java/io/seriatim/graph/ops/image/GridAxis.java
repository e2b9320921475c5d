package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.Attrs;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.Locale;

/** A spatial axis of images that are seen through a grid. */
record GridAxis(int length, boolean corners, Padding padding, boolean single) {
    /** Which element stands for a place outside of the images. */
    enum Padding {
        ZEROS, BORDER, REFLECTION
    }

    /** The axes of images, the first first. */
    static GridAxis[] of(Attrs attrs, TensorSpec x) {
        Padding padding = Padding.valueOf(attrs.getText("padding_mode").toUpperCase(Locale.ROOT));
        boolean corners = attrs.getBool("align_corners");
        GridAxis[] axes = new GridAxis[x.shape().rank() - 2];
        for (int i = 0; i < axes.length; i++) {
            axes[i] = new GridAxis(Math.toIntExact(x.shape().dim(2 + i)), corners, padding,
                    x.dtype() != DType.FLOAT64);
        }
        return axes;
    }

    /** Where the first element lies, or its edge. */
    private double first() {
        return corners ? 0 : -0.5;
    }

    private double span() {
        return corners ? length - 1 : length;
    }

    /**
     * Where a place lies on the axis without ends; in float32 each step is rounded, since it decides which element
     * is the nearest.
     */
    private double endless(double place) {
        return rounded(rounded(rounded(place + 1) * (span() / 2)) + first());
    }

    private double rounded(double number) {
        return single ? (float) number : number;
    }

    private double reflected(double at) {
        double extra = span() == 0 ? 0 : Math.abs(at - first()) % (2 * span());
        return Math.min(extra, 2 * span() - extra) + first();
    }

    private double inside(double at) {
        return Math.clamp(at, 0, length - 1);
    }

    /** Which element lies at a place of the grid, with fractions. */
    double source(double place) {
        double at = endless(place);
        return switch (padding) {
            case BORDER -> inside(at);
            case REFLECTION -> inside(reflected(at));
            case ZEROS -> at;
        };
    }

    /** How {@link #source} changes with the place. */
    double slope(double place) {
        double at = endless(place);
        double slope = span() / 2;
        return switch (padding) {
            case BORDER -> inside(at) == at ? slope : 0;
            case REFLECTION -> {
                double extra = span() == 0 ? 0 : Math.abs(at - first()) % (2 * span());
                boolean turned = (at < first()) != (extra > 2 * span() - extra);
                yield inside(reflected(at)) != reflected(at) ? 0 : turned ? -slope : slope;
            }
            case ZEROS -> slope;
        };
    }
}
