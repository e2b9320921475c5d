package io.seriatim.graph.op;

import io.seriatim.graph.Attribute;

/** What brings values into a run and out of it. An executor carries it out. */
final class InputOutputOperations {
    private InputOutputOperations() {
    }

    static void register(Operations registry) {
        Operation.define("feed").in("X").out("Out").required("col", Attribute.Int.class).register(registry);
        Operation.define("fetch").in("X").out("Out").required("col", Attribute.Int.class).register(registry);
        Operation.define("fetch_v2").in("X").out("Out").required("col", Attribute.Int.class).attr("deepcopy", true)
                .register(registry);
        Operation.define("read").in("Reader").out("Out*").attr("throw_eof_exp", true).attr("infer_out", true).attr("drop_last", true)
                .effect(Effect.READER).register(registry);
    }
}
