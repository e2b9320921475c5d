package io.seriatim.graph.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes programs as ProgramDesc: fields by number, everything in the program's own order. */
final class ProgramWriter {
    private ProgramWriter() {
    }

    static byte[] bytes(Program program, boolean withOpVersions) {
        try {
            WireWriter out = new WireWriter();
            for (Block block : program.blocks()) {
                out.message(1, to -> block(to, block));
            }
            out.raw(Originals.restored(Originals.Kind.PROGRAM, program.original(), header(program, withOpVersions)));
            return out.toBytes().toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Writing to memory does not fail.
        }
    }

    /** The known fields after the blocks. */
    static ByteString header(Program program, boolean withOpVersions) throws IOException {
        WireWriter out = new WireWriter();
        Long version = program.version();
        if (version != null) {
            out.message(4, to -> to.coded().writeInt64(1, version));
        }
        Map<String, Integer> versions = program.opVersions();
        if (withOpVersions && versions != null) {
            out.message(5, to -> opVersions(to, versions));
        }
        return out.toBytes();
    }

    private static void opVersions(WireWriter out, Map<String, Integer> versions) throws IOException {
        for (Map.Entry<String, Integer> entry : versions.entrySet()) {
            out.message(1, pair -> {
                pair.text(1, entry.getKey());
                pair.message(2, to -> to.coded().writeInt32(1, entry.getValue()));
            });
        }
    }

    private static void block(WireWriter out, Block block) throws IOException {
        out.coded().writeInt32(1, block.index());
        out.coded().writeInt32(2, block.parent());
        for (VarDesc desc : block.vars()) {
            out.coded().writeBytes(3, Originals.restored(Originals.Kind.VARIABLE, desc.original(), variable(desc)));
        }
        for (OpDesc op : block.ops()) {
            out.coded().writeBytes(4, Originals.restored(Originals.Kind.OPERATION, op.original(), operation(op)));
        }
        out.raw(Originals.restored(Originals.Kind.BLOCK, block.original(), rest(block.forwardAsWritten())));
    }

    /** The known fields after the operations of a block. */
    static ByteString rest(@Nullable Integer forward) throws IOException {
        WireWriter out = new WireWriter();
        if (forward != null) {
            out.coded().writeInt32(5, forward);
        }
        return out.toBytes();
    }

    /** The known fields of a variable. */
    static ByteString variable(VarDesc desc) throws IOException {
        WireWriter out = new WireWriter();
        out.text(1, desc.name());
        out.message(2, to -> type(to, desc.type()));
        bool(out.coded(), 3, desc.persistable());
        bool(out.coded(), 4, desc.needCheckFeed());
        bool(out.coded(), 5, desc.isParameter());
        bool(out.coded(), 6, desc.stopGradient());
        return out.toBytes();
    }

    private static void bool(CodedOutputStream out, int field, @Nullable Boolean value) throws IOException {
        if (value != null) {
            out.writeBool(field, value);
        }
    }

    private static void type(WireWriter out, VarType type) throws IOException {
        out.coded().writeEnum(1, type.kind());
        switch (type) {
            case VarType.Rows(VarType.TensorType tensor, VarType.Dense before) -> {
                out.message(2, to -> tensor(to, tensor));
                if (before != null) {
                    out.message(3, to -> lodTensor(to, before.tensor(), before.lodLevel()));
                }
            }
            case VarType.Dense dense -> out.message(3, to -> lodTensor(to, dense.tensor(), dense.lodLevel()));
            case VarType.TensorArray array -> out.message(4, to -> lodTensor(to, array.tensor(), array.lodLevel()));
            case VarType.Reader(List<VarType.Dense> tensors) -> out.message(5, to -> {
                for (VarType.Dense dense : tensors) {
                    to.message(1, each -> lodTensor(each, dense.tensor(), dense.lodLevel()));
                }
            });
            case VarType.Other _ -> {
                // The type has only its number.
            }
        }
    }

    private static void lodTensor(WireWriter out, VarType.TensorType tensor, @Nullable Integer lodLevel)
            throws IOException {
        out.message(1, to -> tensor(to, tensor));
        if (lodLevel != null) {
            out.coded().writeInt32(2, lodLevel);
        }
    }

    static void tensor(WireWriter out, VarType.TensorType tensor) throws IOException {
        out.coded().writeEnum(1, tensor.dataType());
        for (long dim : tensor.dims()) {
            out.coded().writeInt64(2, dim);
        }
    }

    /** The known fields of an operation. */
    static ByteString operation(OpDesc op) throws IOException {
        WireWriter out = new WireWriter();
        slots(out, 1, op.inputs());
        slots(out, 2, op.outputs());
        out.text(3, op.type());
        for (Attribute.Named attribute : op.attributes()) {
            out.message(4, to -> AttributeCodec.write(to, attribute));
        }
        bool(out.coded(), 5, op.target());
        return out.toBytes();
    }

    private static void slots(WireWriter out, int field, Map<String, List<String>> slots) throws IOException {
        for (Map.Entry<String, List<String>> slot : slots.entrySet()) {
            out.message(field, to -> {
                to.text(1, slot.getKey());
                for (String name : slot.getValue()) {
                    to.text(2, name);
                }
            });
        }
    }
}
