package io.seriatim.executor.pass;

import io.seriatim.executor.ir.TaskGraph;
import java.util.List;

/**
 * The ordered list of all passes. To add a pass, write a class with a constant {@code PASS}, a line in this list and a
 * test; see docs/add-a-pass.md.
 */
public final class PassPipeline {
    static final List<RewritePass> PASSES = List.of(
            // Turns assignments at the places of a slice into copies. Before CopyElimination, which removes what
            // computed the places.
            SliceAssignments.PASS,
            // Eliminates copies and dead code. Before all others, so that they process fewer tasks.
            CopyElimination.PASS,
            // Counts indices from the front in one task. After SliceAssignments, which knows the four tasks;
            // after CopyElimination, which lets these read the indices themselves.
            FrontIndexTasks.PASS,
            // Gives operations the shape of what they read. After CopyElimination, which removes the reshapes between
            // them; before all passes that compare shapes.
            SharedShapes.PASS,
            // Folds reshapes, factors and shifts into normalisations by groups. After SharedShapes, which gives
            // functions of one operand the shape of the image; before Fusion, which would fuse factor and shift.
            GroupNorms.PASS,
            // Copies parts that concatenations share once. Before Views, which eliminates copies of what is read once.
            SharedConcatenations.PASS,
            // Takes sums from kernels that compute them as well. Before products are rewritten, since it matches the
            // gradient's product in its original form.
            ReuseKernelOutputs.PASS,
            // Splits the product of all gates of a recurrent cell by columns. Before BatchTimeSteps, which then batches
            // the steps of each gate.
            SplitGateMatMul.PASS,
            // Batches the products of all time steps. Before Fusion, since a product with an epilogue is not batched.
            BatchTimeSteps.PASS,
            // Adds the bias of all steps to the batched product. After BatchTimeSteps, whose product it matches.
            HoistBias.PASS,
            // Fuses casts of mixed precision into adjacent kernels. Before Fusion, which would make a cast part of a
            // chain.
            Casts.PASS,
            // Turns a factor of an operand into a factor of the product. After Casts, since a cast may be between both;
            // before Fusion, which would fuse the factor elsewhere.
            ScaledProducts.PASS,
            // Fuses a task with its only reader: epilogues, casts, chains and folded normalisations.
            Fusion.PASS,
            // Writes results of int8 products as int8. After Fusion, whose epilogues come before the quantization.
            Requantization.PASS,
            // Writes gradients of slices directly into their sum. After Fusion, which may have fused some sums; before
            // Views, which places the parts.
            SliceGradientFusion.PASS,
            // Turns transposes, splits, slices and concatenations into views. After Fusion, since a fused operation
            // needs no view.
            Views.PASS,
            // Packs weights that one run reads many times. After Views, which decides the layout of operands.
            RepeatedWeights.PASS,
            // Fuses the remaining elementwise operations, also those with several readers. After Views, since a view
            // ends a group.
            ElementwiseGroups.PASS,
            // Lets tasks write results that later ones would only copy. After all fusion, which takes up most copies.
            DirectResults.PASS,
            // Stores images channels last if convolutions gain. After all fusion, since it converts whole regions of
            // tasks.
            ChannelsLast.PASS,
            // Turns the remaining concatenations of results of convolutions into views. After ChannelsLast, which may
            // store them in another layout.
            Views.OF_CONVOLUTIONS,
            // Computes factors of channels as convolutions. After ChannelsLast, which stores images channels last.
            ChannelFactors.PASS,
            // Lets products of levels write the levels that a chain makes of their sums. After ElementwiseGroups, which
            // makes the chains, and ChannelsLast, which fits layouts to products of sums.
            LevelResults.PASS,
            // Joins updates of small parameters. Last, since it moves tasks out of program order.
            Updates.PASS);

    /** The passes for a program that runs once: only those that pay off within one run. */
    static final List<RewritePass> PASSES_OF_ONE_RUN = List.of(
            // A dead loop may take longer than all other tasks.
            CopyElimination.ONLY_READ);

    private PassPipeline() {
    }

    /**
     * Runs all passes that apply.
     *
     * @param once
     *            whether the plan runs only once; then only passes that pay off within one run apply
     */
    public static void run(TaskGraph graph, PassContext context, boolean once) {
        run(once ? PASSES_OF_ONE_RUN : PASSES, graph, context);
    }

    /** Runs some passes. The graph is compacted after each, so that a pass starts without removed tasks. */
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
