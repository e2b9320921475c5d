package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;

/** Operations that bring values into a run and out of it, which an executor carries out. */
public final class InputOutputOperations {
    private InputOutputOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("feed").in("X").out("Out").required("col", Attribute.Int.class).boundary().register(registry);
        Operation.define("fetch").in("X").out("Out").required("col", Attribute.Int.class).boundary().register(registry);
        Operation.define("fetch_v2").in("X").out("Out").required("col", Attribute.Int.class).attr("deepcopy", true)
                .boundary()
                .register(registry);
        Operation.define("read").in("Reader").out("Out*").attr("throw_eof_exp", true).attr("infer_out", true)
                .attr("drop_last", true)
                .effect(Effect.READER).register(registry);
        files(registry);
    }

    private static void files(Operations registry) {
        file("save").in("X").out("kLookupTablePath?").attr("overwrite", true).attr("save_as_fp16", false)
                .register(registry);
        file("save_combine").in("X*").out("Y?").attr("overwrite", true).attr("save_as_fp16", false)
                .attr("save_to_memory", false)
                .refuse((_, attrs) -> attrs.getBool("save_to_memory")
                        ? "parameters are saved to files only; set save_to_memory to false"
                        : null)
                .register(registry);
        file("load").out("Out").attr("load_as_fp16", false).attr("seek", -1L).attr("shape", new long[0])
                .register(registry);
        file("load_combine").out("Out*").attr("load_as_fp16", false).attr("model_from_memory", false)
                .refuse((_, attrs) -> attrs.getBool("model_from_memory")
                        ? "parameters are loaded from files only; set model_from_memory to false"
                        : null)
                .register(registry);
    }

    private static Operation.Builder file(String type) {
        return Operation.define(type).file("file_path");
    }
}
