package io.seriatim.mxnet.translate;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** An operation that is being described; {@link #one} and the like append it. */
final class OpWriter {
    private final BlockWriter writer;
    private final OpAppender op;

    OpWriter(BlockWriter writer, OpAppender op) {
        this.writer = writer;
        this.op = op;
    }

    OpWriter in(String slot, String... names) {
        return in(slot, List.of(names));
    }

    OpWriter in(String slot, List<String> names) {
        op.in(slot, writer.refs(names));
        return this;
    }

    OpWriter attr(String name, Object value) {
        op.attr(name, value);
        return this;
    }

    /** Writes an output to variables that are there already. */
    OpWriter to(String slot, String... names) {
        op.to(slot, writer.refs(List.of(names)).toArray(Ref[]::new));
        return this;
    }

    /** Declares variables of a type for an output, and returns them. */
    List<String> declared(String slot, int count, DType dtype, long... dims) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(writer.known(writer.model().main().declare(ArgType.dense(dtype, dims))));
        }
        to(slot, names.toArray(String[]::new));
        return names;
    }

    /** Appends the operation and returns its output. */
    String one(String slot) {
        return each(slot).getFirst();
    }

    /** Appends the operation and returns the outputs of a slot. */
    List<String> list(String slot, int count) {
        return op.list(slot, count).stream().map(writer::known).toList();
    }

    /** Appends the operation and returns an output of each slot. */
    List<String> each(String... slots) {
        return op.outs(slots).stream().map(writer::known).toList();
    }
}
