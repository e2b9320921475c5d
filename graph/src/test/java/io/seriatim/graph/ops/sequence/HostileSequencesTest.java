package io.seriatim.graph.ops.sequence;

import static io.seriatim.graph.ops.SmallProgram.refused;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Offsets, attributes, shapes and values that operations on sequences refuse, with messages that name them. */
class HostileSequencesTest {
    private static final Lod LOD = Lod.of(new long[]{0, 2, 5, 6});

    /** An operation whose variables are named as their slots. */
    private static final class Case {
        private final String type;
        private final OpDesc.Builder op;
        private final Map<String, Tensor> feeds = new HashMap<>();

        Case(String type, String... outputs) {
            this.type = type;
            op = OpDesc.of(type);
            Arrays.stream(outputs).forEach(slot -> op.out(slot, "made " + slot));
        }

        Case in(String slot, Tensor value) {
            op.in(slot, slot);
            feeds.put(slot, value);
            return this;
        }

        Case attr(String name, Object value) {
            op.attr(name, value);
            return this;
        }

        DynamicTest says(String... parts) {
            List<String> all = new ArrayList<>(List.of(type));
            all.addAll(List.of(parts));
            return DynamicTest.dynamicTest(String.join(" ", all),
                    () -> refused(op.build(), feeds, all.toArray(String[]::new)));
        }
    }

    private static Tensor floats(long... dims) {
        return Tensor.of(DType.FLOAT32, new double[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)], dims);
    }

    private static Tensor longs(long... values) {
        return Tensor.of(values, values.length, 1);
    }

    private static Case with(String type, String output, Tensor x) {
        return new Case(type, output).in("X", x);
    }

    private static Case divided(String type) {
        return with(type, "Out", floats(6, 2).withLod(LOD));
    }

    @TestFactory
    Stream<DynamicTest> withoutOffsets() {
        return Stream.of(with("sequence_pool", "Out", floats(6, 2)).says("X must be divided", "withLod"),
                with("sequence_softmax", "Out", floats(6, 1)).says("X must be divided"),
                with("sequence_reverse", "Y", floats(6, 1)).says("X must be divided"),
                with("sequence_reshape", "Out", floats(6, 2)).attr("new_dim", 2).says("X must be divided"),
                with("sequence_conv", "Out", floats(6, 2)).in("Filter", floats(6, 2)).attr("contextLength", 3)
                        .says("X must be divided"),
                with("row_conv", "Out", floats(6, 2)).in("Filter", floats(2, 2)).says("X must have", "LoD"),
                with("sequence_expand", "Out", floats(6, 2)).in("Y", floats(6, 2)).says("Y must have a LoD"),
                with("sequence_expand_as", "Out", floats(6, 2)).in("Y", floats(6, 2)).says("Y must be divided"),
                with("sequence_pad", "Out", floats(6, 2)).in("PadValue", floats(1)).says("X must be divided"),
                with("sequence_concat", "Out", floats(6, 2)).says("X must be divided"),
                with("sequence_enumerate", "Out", longs(1, 2)).attr("win_size", 2).says("X must be divided"),
                with("sequence_erase", "Out", longs(1, 2)).attr("tokens", new int[]{1}).says("X must be divided"),
                with("lod_rank_table", "Out", floats(6, 2)).says("X must be divided"),
                with("sequence_scatter", "Out", floats(6, 2)).in("Ids", longs(0)).in("Updates", floats(1, 1))
                        .says("Ids must be divided"));
    }

    @TestFactory
    Stream<DynamicTest> attributes() {
        Tensor ids = longs(1, 2, 3, 4, 5, 6).withLod(LOD);
        return Stream.of(divided("sequence_pool").attr("pooltype", "MEDIAN").says("pooltype", "MEDIAN"),
                divided("sequence_reshape").attr("new_dim", 0).says("new_dim", "0"),
                divided("sequence_reshape").attr("new_dim", 5).says("12 elements", "new_dim 5"),
                divided("sequence_reshape").attr("new_dim", 3).says("each sequence", "new_dim 3"),
                divided("sequence_conv").in("Filter", floats(6, 2)).attr("contextLength", 0).says("contextLength", "0"),
                divided("sequence_conv").in("Filter", floats(6, 2)).attr("contextLength", Integer.MAX_VALUE)
                        .says("contextLength", "2147483647"),
                divided("sequence_conv").in("Filter", floats(6, 2)).attr("contextLength", 3)
                        .attr("contextStart", Integer.MIN_VALUE).says("contextStart", "-2147483648"),
                divided("sequence_conv").in("Filter", floats(6, 2)).attr("contextLength", 3).attr("contextStride", 2)
                        .says("contextStride", "2"),
                divided("sequence_conv").in("Filter", floats(5, 2)).attr("contextLength", 3).says("Filter", "5"),
                divided("sequence_conv").in("Filter", floats(6, 2)).attr("contextLength", 3)
                        .attr("paddingTrainable", true).says("PaddingData"),
                divided("sequence_pad").in("PadValue", floats(1)).attr("padded_length", 0).says("padded_length", "0"),
                divided("sequence_pad").in("PadValue", floats(1)).attr("padded_length", 2).says("padded_length", "3",
                        "2"),
                divided("sequence_pad").in("PadValue", floats(3)).says("PadValue", "[3]"),
                divided("sequence_expand").in("Y", floats(6, 2).withLod(LOD)).attr("ref_level", 1).says("ref_level",
                        "1"),
                with("sequence_enumerate", "Out", ids).attr("win_size", 1).says("win_size", "1"),
                with("sequence_enumerate", "Out", ids).attr("win_size", Integer.MAX_VALUE).says("win_size",
                        "2147483647"),
                divided("add_position_encoding").attr("alpha", -1f).says("alpha", "-1.0"),
                divided("lod_rank_table").attr("level", 1).says("level", "1"),
                divided("lod_rank_table").attr("level", -1).says("level", "-1"),
                divided("lod_reset").attr("target_lod", new int[]{0, 4}).says("target_lod", "6 rows"),
                divided("lod_reset").attr("target_lod", new int[]{0, 4, 2, 6}).says("target_lod", "must not decrease"),
                divided("lod_reset").attr("target_lod", new int[]{1, 6}).says("target_lod", "must begin with 0"),
                divided("lod_reset").says("target_lod", "two offsets"));
    }

    @TestFactory
    Stream<DynamicTest> images() {
        Tensor image = floats(1, 2, 4, 4);
        return Stream.of(
                with("im2sequence", "Out", image).attr("kernels", new int[]{0, 1}).says("kernels", "[0, 1]"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{2}).says("kernels", "[2]"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{5, 2}).says("must fit", "4 by 4"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{1, 1}).attr("strides", new int[]{1, 0})
                        .says("strides", "[1, 0]"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{1, 1})
                        .attr("paddings", new int[]{0, -1, 0, 0}).says("paddings", "-1"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{1, 1})
                        .attr("paddings", new int[]{1 << 20, 1 << 20, 0, 0}).says("too many"),
                with("im2sequence", "Out", image).attr("kernels", new int[]{1, 1}).in("Y", floats(3)).says("Y", "3"),
                with("im2sequence", "Out", floats(4, 4)).attr("kernels", new int[]{1, 1}).says("[4, 4]"));
    }

    @TestFactory
    Stream<DynamicTest> values() {
        Tensor offsets = longs(0, 0, 0);
        Tensor mask = Tensor.of(DType.BOOL, new long[]{1, 0}, 2, 1);
        Tensor table = Tensor.of(new long[]{0, 3, 0, 1}, 2, 2);
        return Stream.of(
                divided("sequence_slice").in("Offset", longs(0, -1, 0)).in("Length", longs(1, 1, 1)).says("Offset -1"),
                divided("sequence_slice").in("Offset", longs(0, 3, 0)).in("Length", longs(1, 1, 1)).says("Offset 3"),
                divided("sequence_slice").in("Offset", offsets).in("Length", longs(1, 4, 1)).says("Length 4"),
                divided("sequence_slice").in("Offset", offsets).in("Length", longs(1, 1)).says("3 sequences", "2"),
                divided("sequence_slice").in("Offset", offsets).in("Length", longs(1, -1, 1)).says("length", "-1"),
                divided("sequence_slice").in("Offset", offsets).in("Length", longs(1, Long.MAX_VALUE, 1)).says("length",
                        "9223372036854775807"),
                with("sequence_unpad", "Out", floats(2, 3)).in("Length", longs(1, 4)).says("padded length 3", "4"),
                with("sequence_unpad", "Out", floats(2, 3)).in("Length", longs(1, -1)).says("padded length", "-1"),
                with("sequence_unpad", "Out", floats(2, 3)).in("Length", longs(1)).says("2 sequences", "1"),
                with("sequence_expand", "Out", floats(2, 2)).in("Y", floats(6, 2).withLod(LOD)).says("rows", "3",
                        "2"),
                with("sequence_expand_as", "Out", floats(2, 2)).in("Y", floats(6, 2).withLod(LOD)).says("3 sequences",
                        "2"),
                with("sequence_scatter", "Out", floats(3, 2)).in("Ids", longs(0, 1, 2, 0, 1, 0).withLod(LOD))
                        .in("Updates", floats(6, 1)).says("Ids must be from 0 to 1", "2"),
                with("sequence_scatter", "Out", floats(4, 2)).in("Ids", longs(0, 1, 1, 0, 1, 0).withLod(LOD))
                        .in("Updates", floats(6, 1)).says("4 rows", "3"),
                divided("split_lod_tensor").in("Mask", mask).says("Mask", "3 sequences", "2"),
                divided("lod_reset").in("Y", Tensor.of(DType.INT32, new long[]{0, 7}, 2)).attr("target_lod", new int[0])
                        .says("LoD"),
                with("reorder_lod_tensor_by_rank", "Out", floats(2, 2)).in("RankTable", table).says("RankTable",
                        "0, 1"),
                with("reorder_lod_tensor_by_rank", "Out", floats(3, 2)).in("RankTable", longs(1, 2)).says("RankTable",
                        "lod_rank_table"),
                with("lod_tensor_to_array", "Out", floats(3, 2)).in("RankTable", table).says("RankTable", "0, 1"));
    }
}
