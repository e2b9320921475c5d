package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;

/**
 * ONNX's pooling in the forms that pool2d and pool3d have not. Where the lengths are known, the padding at the end gets
 * what the last window needs: ONNX takes no window that begins in it, and PaddlePaddle does.
 */
final class OnnxPoolForm {
    private OnnxPoolForm() {
    }

    static boolean pool(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        String x = op.input("X").getFirst();
        List<Long> dims = steps.tensor(x).dims();
        DType dtype = steps.tensor(x).dtype();
        String kind = attrs.getText("kind");
        int[] kernel = attrs.getInts("ksize");
        int spatial = kernel.length;
        boolean bytes = dtype == DType.INT8 || dtype == DType.UINT8;
        if (op.output("Indices").stream().anyMatch(reads::isRead) || kind.equals("lp")
                || !attrs.getText("padding_algorithm").equals("EXPLICIT")
                || Arrays.stream(attrs.getInts("dilations")).anyMatch(each -> each != 1)
                || dims.subList(2, 2 + spatial).stream().anyMatch(length -> length < 0)
                || !(dtype.isFloating() || (bytes && kind.equals("max")))) {
            return false;
        }
        int[] strides = attrs.getInts("strides");
        int[] paddings = attrs.getInts("paddings").clone();
        for (int i = 0; i < spatial; i++) {
            int begin = paddings[2 * i];
            long free = dims.get(2 + i) + begin + paddings[2 * i + 1] - kernel[i];
            long windows = (attrs.getBool("ceil_mode") ? Math.ceilDiv(free, strides[i]) : free / strides[i]) + 1;
            if ((windows - 1) * strides[i] >= dims.get(2 + i) + begin) {
                windows--;
            }
            long end = Math.max(0, (windows - 1) * strides[i] + kernel[i] - dims.get(2 + i) - begin);
            // Elements of the padding count in means, but not those beyond it.
            if (begin >= kernel[i] || end >= kernel[i] || (kind.equals("avg_padded") && end > paddings[2 * i + 1])
                    || (dims.get(2 + i) + begin + end - kernel[i]) / strides[i] + 1 != windows) {
                return false;
            }
            paddings[2 * i + 1] = (int) end;
        }
        boolean line = spatial == 1;
        String image = bytes ? steps.cast(x, DType.FLOAT32) : x;
        if (line) {
            image = steps.op("unsqueeze2").in("X", image).attr("axes", new int[]{2}).out("Out");
        }
        int[] around = line ? new int[]{0, 0, paddings[0], paddings[1]} : paddings;
        if (kind.equals("avg_padded") && Arrays.stream(around).anyMatch(each -> each > 0)) {
            // PaddlePaddle's operation counts as much padding behind the elements as there is before them.
            int[] all = new int[4 + around.length];
            System.arraycopy(around, 0, all, 4, around.length);
            image = steps.op("pad").in("X", image).attr("paddings", all).attr("pad_value", 0f).out("Out");
            Arrays.fill(around, 0);
        }
        String pooled = steps.op(spatial == 3 ? "pool3d" : "pool2d").in("X", image)
                .attr("pooling_type", kind.equals("max") ? "max" : "avg")
                .attr("ksize", line ? new int[]{1, kernel[0]} : kernel)
                .attr("strides", line ? new int[]{1, strides[0]} : strides).attr("paddings", around)
                .attr("padding_algorithm", "EXPLICIT").attr("ceil_mode", false)
                .attr("exclusive", !kind.equals("avg_padded")).out("Out");
        if (line) {
            pooled = steps.op("squeeze2").in("X", pooled).attr("axes", new int[]{2}).out("Out");
        }
        steps.op("assign").in("X", steps.cast(pooled, dtype)).into("Out", op.output("Out").getFirst());
        return true;
    }
}
