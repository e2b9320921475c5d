package io.seriatim.onnx.write;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.emit.ModelBytes;
import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.OutGraph;
import io.seriatim.onnx.emit.UnwritableException;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.onnx.write.operators.ControlWriters;
import io.seriatim.onnx.write.operators.ElementwiseWriters;
import io.seriatim.onnx.write.operators.IndexWriters;
import io.seriatim.onnx.write.operators.NetworkWriters;
import io.seriatim.onnx.write.operators.OtherWriters;
import io.seriatim.onnx.write.operators.OwnWriters;
import io.seriatim.onnx.write.operators.QuantizationWriters;
import io.seriatim.onnx.write.operators.RecurrentWriters;
import io.seriatim.onnx.write.operators.ReductionWriters;
import io.seriatim.onnx.write.operators.ResizeWriters;
import io.seriatim.onnx.write.operators.ShapeWriters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;

/** Writes the program of a model as a graph of ONNX. */
public final class ProgramWriter {
    private static final OpWriters WRITERS = registered();

    private final Program program;
    private final int opset;
    private final List<String> problems = new ArrayList<>();

    private ProgramWriter(Program program, int opset) {
        this.program = ExpandedShapes.of(program);
        this.opset = opset;
    }

    /** The types of operations that can be written. */
    static SortedSet<String> types() {
        return WRITERS.types();
    }

    private static OpWriters registered() {
        OpWriters all = new OpWriters();
        ElementwiseWriters.register(all);
        ReductionWriters.register(all);
        ShapeWriters.register(all);
        IndexWriters.register(all);
        NetworkWriters.register(all);
        ResizeWriters.register(all);
        RecurrentWriters.register(all);
        ControlWriters.register(all);
        OtherWriters.register(all);
        OwnWriters.register(all);
        QuantizationWriters.register(all);
        return all;
    }

    /**
     * Writes a model.
     *
     * @param path
     *            the file
     * @param model
     *            what is written
     * @param opset
     *            the version of ONNX's operators to use
     * @throws IllegalArgumentException
     *             if operations have no counterpart; the message names all
     * @throws IOException
     *             if a file cannot be written
     */
    public static void write(Path path, InferenceModel model, int opset) throws IOException {
        ProgramWriter writer = new ProgramWriter(model.program(), opset);
        OutGraph graph = writer.graph(model);
        ModelBytes.write(path, graph, opset);
    }

    /**
     * Checks that a model can be written.
     *
     * @param model
     *            what would be written
     * @param opset
     *            the version of ONNX's operators to use
     * @throws IllegalArgumentException
     *             if operations have no counterpart; the message names all
     */
    public static void requireExpressible(InferenceModel model, int opset) {
        new ProgramWriter(model.program(), opset).graph(model);
    }

    private OutGraph graph(InferenceModel model) {
        OutGraph graph = new OutGraph(opset);
        Block global = program.global();
        for (String feed : model.feeds()) {
            VarType.TensorType type = global.get(feed).tensor();
            graph.input(feed, type.dtype(), type.shape(), program.symbolicDims().of(feed));
        }
        model.parameters().forEach((name, value) -> {
            // A parameter that is fed always has the value that is fed.
            if (!model.feeds().contains(name)) {
                graph.parameter(name, value);
            }
        });
        model.fetches().forEach(graph::reserve);
        write(global, graph);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("The model cannot be written as ONNX: "
                    + String.join("; ", problems.stream().distinct().toList()));
        }
        for (String fetch : model.fetches()) {
            if (model.feeds().contains(fetch) && !graph.get(fetch).equals(fetch)) {
                throw new IllegalArgumentException("The model cannot be written as ONNX: '" + fetch
                        + "' is fed, overwritten and fetched, but in ONNX a name has one value; fetch a copy");
            }
            VarDesc desc = global.get(fetch);
            graph.output(fetch, fetch, desc.tensor().dtype(), desc.tensor().shape());
        }
        return graph;
    }

    private static void requireReal(Block block, OpDesc op) {
        for (String name : op.inputNames()) {
            VarDesc desc = block.find(name);
            VarType.TensorType type = desc == null ? null : desc.type().tensorType();
            if (type != null && type.dtype().isComplex()) {
                throw new UnwritableException("operation '" + op.type() + "' reads the complex numbers '" + name
                        + "', with which ONNX does not compute");
            }
        }
    }

    private void write(Block block, OutGraph graph) {
        for (OpDesc op : block.ops()) {
            OpWriters.OpWriter writer = WRITERS.find(op.type());
            if (writer == null) {
                problems.add("operation '" + op.type() + "' has no counterpart");
                continue;
            }
            if (!problems.isEmpty() && op.inputNames().stream().anyMatch(name -> graph.find(name) == null)) {
                // What needs the result of an unknown operation is not reported, too.
                continue;
            }
            try {
                requireReal(block, op);
                writer.write(new WrittenOp(op, new Attrs(op, Operations.system().find(op.type())), block, graph, opset,
                        (index, into) -> write(program.block(index), into)));
            } catch (UnwritableException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
    }
}
