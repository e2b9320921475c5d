package io.seriatim.graph.format;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The program for inference that Paddle's save_inference_model makes of another one. */
final class ExportedProgram {
    static final String FEED = "feed";
    static final String FETCH = "fetch";
    static final String COLUMN = "col";
    private static final String QUANTIZED = "with_quant_attr";
    private static final String IS_TEST = "is_test";
    private static final List<String> OF_QUANTIZATION = List.of(QUANTIZED, "quantization_type", "skip_quant",
            "activation_bits",
            "bit_length",
            "quantize_weight_bits", "weight_quant_scale");
    /**
     * Extra attributes that change results, with the value that readers take without them. Paddle itself only ever
     * writes that one.
     */
    private static final Map<String, Map<String, Attribute>> MEANT = Map.of("swish",
            Map.of("beta", new Attribute.Real(1)), "relu6",
            Map.of("threshold", new Attribute.Real(6)));

    private ExportedProgram() {
    }

    /** The program as Paddle exports it, which fetches scaled copies of the variables. */
    static Program of(Program main, List<String> feeds, List<String> fetches) {
        return of(main, feeds, fetches, false);
    }

    /**
     * The program as Paddle exports it, except that it fetches the variables themselves, so that the file has their
     * names. A copy is fetched in place of a feed, a variable that outlives runs, and one that was fetched before:
     * Paddle's loader expects none of these.
     */
    static Program withNames(Program main, List<String> feeds, List<String> fetches) {
        return of(main, feeds, fetches, true);
    }

    private static Program of(Program main, List<String> feeds, List<String> fetches, boolean named) {
        Program whole = withoutFeeds(main);
        List<String> targets = new ArrayList<>();
        for (int i = 0; i < fetches.size(); i++) {
            String fetch = fetches.get(i);
            boolean itself = named && !feeds.contains(fetch) && !targets.contains(fetch)
                    && !whole.global().get(fetch).isPersistable();
            if (itself) {
                requireTensor(fetch, whole.global().get(fetch));
            }
            targets.add(itself ? fetch : target(whole.global(), fetch, i));
        }
        Program exported = pruned(whole, feeds, targets, ExportedProgram::forInference);
        checkFed(exported.global(), feeds, fetches);
        addFeeds(exported.global(), feeds);
        addFetches(exported.global(), targets);
        return exported;
    }

    /** A program for inference that feeds and fetches the variables themselves, which keep their names, used or not. */
    static Program named(Program inference, List<String> feeds, List<String> fetches) {
        Program exported = needed(inference, feeds, fetches);
        addFeeds(exported.global(), feeds);
        addFetches(exported.global(), fetches);
        return exported;
    }

    /** The part of a program for inference that computes some variables from others, all of which it has. */
    static Program needed(Program inference, List<String> feeds, List<String> fetches) {
        Program whole = withoutFeeds(inference);
        for (String fetch : fetches) {
            requireTensor(fetch, whole.global().get(fetch));
        }
        Program exported = pruned(whole, feeds, fetches, UnaryOperator.identity());
        for (String feed : feeds) {
            if (exported.global().var(feed) == null) {
                exported.global().put(untrained(whole.global().get(feed)));
            }
        }
        checkFed(exported.global(), feeds, fetches);
        return exported;
    }

    private static Program withoutFeeds(Program main) {
        Program whole = main.copy();
        whole.global().setOps(whole.global().ops().stream().filter(op -> !isFeedOrFetch(op))
                .map(ExportedProgram::withoutDevice).toList());
        return whole;
    }

    private static Program pruned(Program whole, List<String> feeds, List<String> targets,
            UnaryOperator<OpDesc> change) {
        Program pruned = whole.prune(feeds, targets);
        Program exported = new Program().original(pruned.original());
        for (Block block : pruned.blocks()) {
            Block to = block.index() == 0
                    ? exported.global()
                    : exported.addBlock(block.parent(), block.forwardAsWritten());
            to.original(block.original());
            block.vars().stream().filter(desc -> desc.type().kind() != VarType.READER).map(ExportedProgram::untrained)
                    .forEach(to::put);
            to.setOps(afterReading(block).stream().map(ExportedProgram::stripped).map(change).toList());
        }
        exported.symbolicDims(whole.symbolicDims()).expressedTraining(whole.expressedTraining());
        return exported;
    }

    static boolean isFeedOrFetch(OpDesc op) {
        return op.type().equals(FEED) || op.type().equals(FETCH);
    }

    private static OpDesc withoutDevice(OpDesc op) {
        return op.attribute("op_device") == null ? op : op.with("op_device", "");
    }

    /**
     * Paddle puts an operation that does nothing behind each result, so that nothing that reads or overwrites it counts
     * as the result's last operation.
     */
    private static String target(Block global, String fetch, int index) {
        VarType.Dense dense = requireTensor(fetch, global.get(fetch));
        if (dense.tensor().dtype() == DType.BOOL) {
            return fetch;
        }
        String prefix = "save_infer_model/scale_" + index + ".tmp_";
        int number = 0;
        while (global.var(prefix + number) != null) {
            number++;
        }
        String name = prefix + number;
        Integer level = dense.lodLevel();
        global.put(
                new VarDesc(name, new VarType.Dense(dense.tensor(), level == null ? Integer.valueOf(0) : level), false,
                        null, null, null));
        global.add(common(
                OpDesc.of("scale").in("ScaleTensor").in("X", fetch).out("Out", name).attr("scale", 1f).attr("bias", 0f)
                        .attr("bias_after_scale", true))
                .build());
        return name;
    }

    private static VarType.Dense requireTensor(String fetch, VarDesc desc) {
        if (desc.type() instanceof VarType.Dense dense) {
            return dense;
        }
        throw new IllegalArgumentException(
                "Only tensors can be fetched from an inference model, but '" + fetch + "' is " + desc);
    }

    private static OpDesc.Builder common(OpDesc.Builder op) {
        return op.attr("op_device", "").attr("op_namescope", "/").attr("op_role", 0).attr("op_role_var", new String[0]);
    }

    private static VarDesc untrained(VarDesc desc) {
        return new VarDesc(desc.name(), desc.type(), desc.persistable(), desc.needCheckFeed(), null, null,
                desc.original());
    }

    /** Removes the operation that reads a batch from a file's reader, and those before it. */
    private static List<OpDesc> afterReading(Block block) {
        for (int i = 0; block.index() == 0 && i < block.ops().size(); i++) {
            if (block.ops().get(i).type().equals("read")) {
                return block.ops().subList(i + 1, block.ops().size());
            }
        }
        return block.ops();
    }

    private static OpDesc stripped(OpDesc op) {
        List<String> extra = ExtraParts.attributes(op.type());
        boolean quantized = op.attribute(QUANTIZED) instanceof Attribute.Bool(boolean value) && value;
        List<Attribute.Named> attributes = new ArrayList<>();
        for (Attribute.Named attribute : op.attributes()) {
            String name = attribute.name();
            boolean ofQuantization = quantized && (OF_QUANTIZATION.contains(name) || name.endsWith("_threshold"));
            boolean dropped = extra.contains(name)
                    ? !isMeant(op.type(), attribute)
                    : !extra.isEmpty() && !ofQuantization && (name.equals("op_callstack") || name.equals(QUANTIZED));
            if (!dropped) {
                attributes.add(attribute);
            }
        }
        Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
        outputs.keySet().removeAll(ExtraParts.outputs(op.type()));
        return new OpDesc(op.type(), op.inputs(), outputs, attributes, null).with(op.original());
    }

    private static OpDesc forInference(OpDesc op) {
        return op.attribute(IS_TEST) == null ? op : op.with(IS_TEST, true);
    }

    private static boolean isMeant(String type, Attribute.Named attribute) {
        Attribute byDefault = MEANT.getOrDefault(type, Map.of()).get(attribute.name());
        return byDefault != null && !byDefault.equals(attribute.value());
    }

    private static void checkFed(Block global, List<String> feeds, List<String> fetches) {
        for (OpDesc op : global.ops()) {
            for (String name : op.inputNames()) {
                VarDesc desc = global.var(name);
                if (desc != null && Boolean.TRUE.equals(desc.needCheckFeed()) && !feeds.contains(name)) {
                    throw new IllegalArgumentException(
                            "To compute " + fetches + ", '" + name + "' must be fed, too, but the feeds are " + feeds);
                }
            }
        }
    }

    private static void addFeeds(Block global, List<String> feeds) {
        if (feeds.isEmpty()) {
            return;
        }
        String holder = holder(global, FEED, VarType.FEED_MINIBATCH);
        Map<String, Integer> columns = new HashMap<>();
        for (int i = 0; i < feeds.size(); i++) {
            String name = feeds.get(i);
            if (global.var(name) == null) {
                throw new IllegalArgumentException("Nothing that is fetched needs feed '" + name + "': leave it out");
            }
            if (columns.put(name, i) != null) {
                throw new IllegalArgumentException("Feed '" + name + "' is there twice");
            }
            global.add(0,
                    common(OpDesc.of(FEED).in("X", holder).out("Out", name).attr(COLUMN, i).attr(QUANTIZED, false))
                            .build());
        }
    }

    private static void addFetches(Block global, List<String> targets) {
        String holder = holder(global, FETCH, VarType.FETCH_LIST);
        for (int i = 0; i < targets.size(); i++) {
            global.add(common(
                    OpDesc.of(FETCH).in("X", targets.get(i)).out("Out", holder).attr(COLUMN, i).attr(QUANTIZED, false))
                    .build());
        }
    }

    /** Adds the variable that stands for all feeds or all fetches, with a name that no other variable has. */
    private static String holder(Block global, String byDefault, int kind) {
        String name = byDefault;
        for (int i = 0; global.var(name) != null; i++) {
            name = byDefault + "_" + i;
        }
        global.put(new VarDesc(name, new VarType.Other(kind), true, null, null, null));
        return name;
    }
}
