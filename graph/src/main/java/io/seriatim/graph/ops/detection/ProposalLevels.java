package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Boxes of images that are distributed to the levels of a feature pyramid, or collected from them. */
final class ProposalLevels {
    private static final double LEAST = 1e-6;

    private ProposalLevels() {
    }

    /** The boxes of each level, by their size, and where each box went. */
    static ComputedOutputs distributed(Given given, int[] starts) {
        Attrs attrs = given.attrs();
        int least = attrs.getInt("min_level");
        int levels = attrs.getInt("max_level") - least + 1;
        double[] boxes = given.numbers("FpnRois");
        DType dtype = given.dtype("FpnRois");
        int images = starts.length - 1;
        int count = starts[images];
        WorkingMemory.length(levels, images);
        int[] level = new int[count];
        int[][] counts = new int[levels][images];
        int[] sizes = new int[levels];
        BoxOverlap areas = new BoxOverlap(boxes, BoxCode.SIZE, !attrs.getBool("pixel_offset"), Precision.of(dtype));
        for (int image = 0; image < images; image++) {
            for (int i = starts[image]; i < starts[image + 1]; i++) {
                level[i] = level(attrs, areas.area(i * BoxCode.SIZE), Precision.of(dtype)) - least;
                counts[level[i]][image]++;
                sizes[level[i]]++;
            }
        }
        ComputedOutputs outputs = new ComputedOutputs();
        double[] restore = new double[count];
        int place = 0;
        for (int l = 0; l < levels; l++) {
            double[] ofLevel = new double[sizes[l] * BoxCode.SIZE];
            int row = 0;
            for (int i = 0; i < count; i++) {
                if (level[i] == l) {
                    System.arraycopy(boxes, i * BoxCode.SIZE, ofLevel, BoxCode.SIZE * row++, BoxCode.SIZE);
                    restore[i] = place++;
                }
            }
            outputs.add("MultiFpnRois", l, dtype, ofLevel, sizes[l], BoxCode.SIZE);
            outputs.addInts("MultiLevelRoIsNum", l, counts[l], images).divide("MultiFpnRois", l, counts[l]);
        }
        return outputs.add("RestoreIndex", DType.INT32, restore, count, 1);
    }

    private static int level(Attrs attrs, double area, Precision precision) {
        double scale = precision.round(precision.round(Math.sqrt(area)) / attrs.getInt("refer_scale"));
        double exponent = precision.round(Math.log(precision.round(scale + precision.round(LEAST))) / Math.log(2));
        int level = (int) Math.floor(precision.round(exponent + attrs.getInt("refer_level")));
        return Math.min(attrs.getInt("max_level"), Math.max(level, attrs.getInt("min_level")));
    }

    /** A box of a level: its number there, its image and its score. */
    private record Candidate(int level, int index, int image, double score) {
    }

    /**
     * The boxes of all levels with the best scores, image by image.
     *
     * @param given
     *            inputs and attributes
     * @param counts
     *            of each level, how many boxes each image has
     * @return FpnRois and RoisNum
     */
    static ComputedOutputs collected(Given given, int[][] counts) {
        List<Candidate> all = new ArrayList<>();
        for (int level = 0; level < counts.length; level++) {
            double[] scores = given.numbers("MultiLevelScores", level);
            int image = 0;
            int before = 0;
            int count = Arrays.stream(counts[level]).sum();
            for (int i = 0; i < count; i++) {
                // As in PaddlePaddle, the first box after an image without boxes counts as one of that image.
                if (i >= before + counts[level][image]) {
                    before += counts[level][image++];
                }
                all.add(new Candidate(level, i, image, scores[i] + 0.0));
            }
        }
        // Of equal scores, PaddlePaddle takes the last first.
        List<Candidate> best = all.reversed().stream()
                .sorted(Comparator.comparingDouble(Candidate::score).reversed())
                .limit(given.attrs().getInt("post_nms_topN")).sorted(Comparator.comparingInt(Candidate::image))
                .toList();
        List<double[]> ofLevels = new ArrayList<>();
        for (int level = 0; level < counts.length; level++) {
            ofLevels.add(given.numbers("MultiLevelRois", level));
        }
        double[] boxes = new double[best.size() * BoxCode.SIZE];
        int[] images = new int[counts[0].length];
        for (int i = 0; i < best.size(); i++) {
            Candidate each = best.get(i);
            System.arraycopy(ofLevels.get(each.level), each.index * BoxCode.SIZE, boxes, i * BoxCode.SIZE,
                    BoxCode.SIZE);
            images[each.image]++;
        }
        return new ComputedOutputs()
                .add("FpnRois", given.dtype("MultiLevelRois"), boxes, best.size(), BoxCode.SIZE)
                .addInts("RoisNum", images, images.length).divide("FpnRois", 0, images);
    }
}
