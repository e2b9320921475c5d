package io.seriatim.graph.program;

import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares what is fed with what a program declares. Of a variable with {@code need_check_feed}, as each input of a
 * model is, element type, rank and dimensions are compared; of another one, the element type only, because programs may
 * compute with other shapes than they declare.
 */
public final class FeedCheck {
    private FeedCheck() {
    }

    /**
     * Returns why a value does not fit its variable.
     *
     * @param desc
     *            the variable
     * @param spec
     *            what is fed
     * @param source
     *            where the value comes from, such as {@code x.npy holds}; {@code is} without a source
     * @return a sentence that names the variable, what is declared and what came; null if the value fits
     */
    public static @Nullable String problem(VarDesc desc, TensorSpec spec, String source) {
        VarType.TensorType type = desc.type().tensorType();
        if (type == null || DataTypes.find(type.dataType()) == null) {
            return null;
        }
        if (Boolean.TRUE.equals(desc.needCheckFeed())) {
            return type.matches(spec)
                    ? null
                    : "Feed '" + desc.name() + "' must be " + type + " (-1 matches any), but " + source + " " + spec;
        }
        return type.dtype() == spec.dtype()
                ? null
                : "Feed '" + desc.name() + "' must be of the element type " + type.dtype() + ", but " + source + " "
                        + spec;
    }

    /**
     * The variables that a program wants to be fed: those with {@code need_check_feed}, and those of the first block
     * that its operations read, but nothing writes before and no run keeps.
     *
     * @param program
     *            any program
     * @return their names, for messages
     */
    public static List<String> feeds(Program program) {
        Block block = program.global();
        Set<String> feeds = new LinkedHashSet<>();
        block.vars().stream().filter(desc -> Boolean.TRUE.equals(desc.needCheckFeed()))
                .forEach(desc -> feeds.add(desc.name()));
        Set<String> written = new HashSet<>();
        for (OpDesc op : block.ops()) {
            for (String name : op.inputNames()) {
                VarDesc desc = block.var(name);
                if (desc != null && !desc.isPersistable() && desc.type() instanceof VarType.Dense
                        && !written.contains(name)) {
                    feeds.add(name);
                }
            }
            written.addAll(op.outputNames());
        }
        return new ArrayList<>(feeds);
    }

    /**
     * Says that a program lacks a variable that is to be fed.
     *
     * @param program
     *            the program
     * @param name
     *            of the variable
     * @return a sentence that lists the program's feeds
     */
    public static String unknown(Program program, String name) {
        List<String> feeds = feeds(program);
        return "The program has no variable '" + name + "' to feed; its feeds are " + feeds;
    }
}
