package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import java.util.Arrays;
import java.util.List;

/** Checks and selections that the operations of this package share. */
final class Proposals {
    private Proposals() {
    }

    static void checkBoxes(Inference inference, String slot) {
        long[] dims = inference.dims(slot);
        inference.require(dims.length == 2 && (dims[1] == Boxes.WIDTH || dims[1] < 0),
                "%s must be [boxes, 4], but is %s", slot, Numbers.text(dims));
        inference.require(inference.dtype(slot).isFloating(), "%s must be of a floating-point type, but is %s", slot,
                inference.dtype(slot));
    }

    /** ImInfo has the height, the width and the scale of each image. */
    static void checkImages(Inference inference) {
        long[] dims = inference.dims("ImInfo");
        inference.require(dims.length == 2 && (dims[1] == 3 || dims[1] < 0), "ImInfo must be [images, 3], but is %s",
                Numbers.text(dims));
    }

    /** Some rows, one after the other. */
    static double[] rows(double[] all, int width, List<Integer> chosen) {
        double[] rows = new double[width * chosen.size()];
        for (int i = 0; i < chosen.size(); i++) {
            System.arraycopy(all, width * chosen.get(i), rows, width * i, width);
        }
        return rows;
    }

    /** Neighbouring rows. */
    static double[] rows(double[] all, int width, int from, int to) {
        return Arrays.copyOfRange(all, width * from, width * to);
    }
}
