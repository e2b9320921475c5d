package io.seriatim.executor.pass;

import io.seriatim.executor.ir.TaskGraph;
import java.util.List;

/**
 * All passes over the tasks of a block, in their order. To add one: a class with a constant {@code PASS}, a line here,
 * a test (docs/add-a-pass.md).
 */
public final class PassPipeline {
    static final List<RewritePass> PASSES = List.of(
            // Leaves out copies and what no one reads. First: every later pass has fewer tasks to look at.
            CopyElimination.PASS,
            // Takes sums from the kernels that compute them anyway. Before products change: it looks for a gradient's
            // product as the program has it.
            ReuseKernelOutputs.PASS,
            // Splits the product of all gates of a recurrent cell by columns. Before STACKING, which then joins the
            // steps of each gate.
            SplitGateMatMul.PASS,
            // Joins the products of all time steps into one. Before epilogues: a product with an activation in it is
            // not joined.
            BatchTimeSteps.PASS,
            // Adds the bias of all steps to the joined product. After STACKING, whose product it looks for.
            HoistBias.PASS,
            // Leaves casts of mixed precision to the kernels beside them. Before fusion, which would make a cast part
            // of a chain.
            Casts.PASS,
            // Makes a factor of an operand a factor of the product. After CASTS, which may stand between; before
            // fusion, which takes the factor.
            ScaledProducts.PASS,
            // Joins tasks of which only one reads the other: epilogues, casts, chains, folded normalisations.
            Fusion.PASS,
            // Makes gradients of slices parts of their sum. After fusion, which leaves the sums that are left; before
            // VIEWS, which places the parts.
            SliceGradientFusion.PASS,
            // Turns transposes, splits, slices and concatenations into views. After fusion: what is part of a kernel by
            // now needs no view.
            Views.PASS,
            // Packs weights that one run reads many times. After VIEWS, which decides how an operand lies in memory.
            RepeatedWeights.PASS,
            // Joins the elementwise operations that are left, also those with several readers. After VIEWS: a view ends
            // a group.
            ElementwiseGroups.PASS,
            // Puts channels innermost where convolutions gain. After all fusion: it converts whole regions of tasks.
            ChannelsLast.PASS,
            // Updates small parameters together. Last: it moves tasks, so that the order of the program is lost.
            Updates.PASS);

    /** For a program that runs once: its memory and order are not worth a thought. */
    static final List<RewritePass> PASSES_OF_ONE_RUN = List.of(
            // A loop that no one reads may take as long as all the rest.
            CopyElimination.ONLY_READ);

    private PassPipeline() {
    }

    /**
     * Takes a graph through all passes that apply.
     *
     * @param once
     *            whether the plan runs only once: then only those that pay at once
     */
    public static void run(TaskGraph graph, PassContext context, boolean once) {
        run(once ? PASSES_OF_ONE_RUN : PASSES, graph, context);
    }

    /** Takes a graph through some passes; each begins with tasks without gaps. */
    static void run(List<RewritePass> passes, TaskGraph graph, PassContext context) {
        PassCheck check = PassCheck.of(graph);
        for (RewritePass pass : passes) {
            if (pass.applies().test(context)) {
                pass.rewrite().accept(graph, context);
                check.after(pass, graph);
                graph.compact();
            }
        }
    }
}
