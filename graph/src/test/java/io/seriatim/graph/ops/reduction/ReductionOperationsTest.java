package io.seriatim.graph.ops.reduction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.tensor.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reductions, norms, sorting and running sums. */
class ReductionOperationsTest {
    private static final DType F = DType.FLOAT32;

    private static OneOperation of(String type, long... dims) {
        return new OneOperation(type).in("X", F, dims).out("Out");
    }

    @ParameterizedTest
    @ValueSource(strings = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_all",
            "reduce_any"})
    void reductionsRefuseAxesThatAreNotThere(String type) {
        of(type, 2, 3).attr("dim", new int[]{-3}).isRefused("axis -3", "2 dimensions");
        of(type, 2, 3).attr("dim", new int[]{0, 2}).isRefused("axis 2");
        of(type).attr("dim", new int[]{1}).isRefused("axis 1");
    }

    @Test
    void norms() {
        of("p_norm", 2, 3).attr("axis", 2).isRefused("axis 2");
        of("p_norm", 2, 3).attr("porder", Float.NaN).isRefused("porder");
        of("logsumexp", 2, 3).attr("axis", new int[]{5}).isRefused("axis 5");
        of("clip_by_norm", 2, 3).attr("max_norm", 0f).isRefused("max_norm must be above 0", "0.0");
        of("clip_by_norm", 2, 3).isRefused("max_norm");
        new OneOperation("squared_l2_norm").in("X", ArgType.rows(F, 2, 5, 3)).out("Out").isRefused("holds rows",
                "merge_selected_rows");
        new OneOperation("reduce_mean").in("X", DType.INT32, 2).out("Out")
                .isRefused("the mean is of floating-point numbers", "cast");
        new OneOperation("p_norm").in("X", DType.INT64, 2).out("Out").isRefused("floating-point");
    }

    @Test
    void order() {
        of("argsort", 2, 3).out("Indices").attr("axis", 3).isRefused("axis 3");
        of("top_k_v2", 2, 3).out("Indices").attr("k", 4).isRefused("k must be from 0 to 3", "is 4");
        of("top_k_v2", 2, 3).out("Indices").attr("k", -1).isRefused("0 or more");
        of("top_k_v2", 2, 3).out("Indices").valued("K", DType.INT64, 1L << 40).isRefused("from 0 to 3");
        of("top_k_v2", 2, 3).out("Indices").valued("K", DType.INT32, 1, 2).isRefused("one number");
        of("arg_max", 2, 3).attr("axis", 2L).isRefused("axis 2");
        of("arg_max", 2, 3).isRefused("'axis' is not given");
        of("arg_min", 2, 0).attr("axis", 1L).isRefused("no elements");
        of("arg_min", 2, 3).attr("axis", 1L).attr("dtype", 5).isRefused("int32 or int64", "float32");
        of("cumsum", 2, 3).attr("axis", -3).isRefused("axis -3");
        new OneOperation("cumsum").in("X", DType.BOOL, 2).out("Out").isRefused("bool");
    }

    @Test
    void aTensorSaysHowManyAreChosen() {
        assertEquals(ArgType.dense(F, 2, 3),
                of("top_k_v2", 2, 5).out("Indices").valued("K", DType.INT32, 3).inferred("Out"));
        assertEquals(ArgType.dense(F, 2, -1),
                of("top_k_v2", 2, 5).out("Indices").in("K", DType.INT32, 1).inferred("Out"));
    }

    @Test
    void anEmptyAxisIsNoMatterWhereNothingIsLookedFor() {
        assertEquals(ArgType.dense(DType.INT64, 0), of("arg_max", 0, 3).attr("axis", 1L).inferred("Out"));
    }
}
