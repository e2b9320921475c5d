package io.seriatim.graph.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.WireFormat;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads ProgramDesc. What it returns holds together: parents come before their children, and attributes name blocks
 * that there are.
 */
final class ProgramReader {
    /**
     * The deepest nesting of blocks. A choice among many cases has a level for each case, and a run needs stack for
     * each level.
     */
    private static final int DEEPEST = 500;
    private final WireReader in;

    ProgramReader(String source, byte[] bytes) {
        this.in = new WireReader(source, bytes);
    }

    /** A block that was read but not checked yet. */
    private static final class RawBlock {
        int offset;
        int index;
        int parent = Block.NONE;
        int depth;
        @Nullable
        Integer forward;
        final Map<String, VarDesc> vars = new LinkedHashMap<>();
        final List<OpDesc> ops = new ArrayList<>();
        final List<Integer> opOffsets = new ArrayList<>();
        ByteString rest = ByteString.EMPTY;
    }

    Program read() throws IOException {
        List<RawBlock> blocks = new ArrayList<>();
        var header = new Object() {
            @Nullable
            Long version;
            @Nullable
            Map<String, Integer> opVersions;
        };
        WireReader.Keeping fields = in.new Keeping() {
            @Override
            public boolean read(int field) throws IOException {
                switch (field) {
                    case 1 -> blocks.add(block());
                    case 4 -> header.version = version();
                    case 5 -> header.opVersions = opVersions();
                    default -> {
                        return false;
                    }
                }
                return true;
            }

            @Override
            boolean keeps(int field) {
                return field != 1;
            }
        };
        in.fields(fields);
        if (blocks.isEmpty()) {
            throw in.error(0, "a program has at least one block, but there is none: this is not a program");
        }
        Program program = link(blocks, header.version, header.opVersions);
        return program.original(Originals.of(fields.kept(), ProgramWriter.header(program, true)));
    }

    private long version() throws IOException {
        long[] version = {0};
        in.message(part -> {
            if (part == 1) {
                version[0] = in.int64();
            }
            return part == 1;
        });
        return version[0];
    }

    private Map<String, Integer> opVersions() throws IOException {
        Map<String, Integer> versions = new LinkedHashMap<>();
        in.message(field -> {
            if (field == 1) {
                var pair = new Object() {
                    String name = "";
                    int version;
                };
                in.message(part -> {
                    switch (part) {
                        case 1 -> pair.name = in.text();
                        case 2 -> in.message(inner -> {
                            if (inner == 1) {
                                pair.version = in.int32();
                            }
                            return inner == 1;
                        });
                        default -> {
                            return false;
                        }
                    }
                    return true;
                });
                versions.put(pair.name, pair.version);
            }
            return field == 1;
        });
        return versions;
    }

    private Program link(List<RawBlock> blocks, @Nullable Long version, @Nullable Map<String, Integer> opVersions)
            throws IOException {
        Program program = Program.empty(version, opVersions);
        for (int i = 0; i < blocks.size(); i++) {
            RawBlock raw = blocks.get(i);
            boolean root = i == 0;
            if (raw.index != i) {
                throw in.error(raw.offset, "block " + i + " has the index " + raw.index);
            }
            if (root ? raw.parent != Block.NONE : raw.parent < 0 || raw.parent >= i) {
                throw in.error(raw.offset,
                        "block " + i + " has the parent " + raw.parent + ", but must have "
                                + (root ? "-1" : "one from 0 to " + (i - 1)));
            }
            if (raw.forward != null && (raw.forward < Block.NONE || raw.forward >= blocks.size())) {
                throw in.error(raw.offset,
                        "block " + i + " is the gradient of block " + raw.forward + ", but there are " + blocks.size());
            }
            Block block = program.addBlock(raw.parent, raw.forward)
                    .original(Originals.of(raw.rest, ProgramWriter.rest(raw.forward)));
            raw.vars.values().forEach(block::put);
            raw.depth = root ? 0 : blocks.get(raw.parent).depth + 1;
            if (raw.depth > DEEPEST) {
                throw in.error(raw.offset,
                        "block " + i + " is in " + raw.depth + " others, but at most " + DEEPEST + " are allowed");
            }
            for (int j = 0; j < raw.ops.size(); j++) {
                checkBlocks(raw, raw.ops.get(j), raw.opOffsets.get(j), blocks);
                block.add(raw.ops.get(j));
            }
        }
        return program;
    }

    private void checkBlocks(RawBlock block, OpDesc op, int offset, List<RawBlock> blocks) throws IOException {
        for (Attribute.Named attribute : op.attributes()) {
            for (int index : attribute.value().blocks()) {
                // With any other parent an operation could run its own block, in an endless recursion.
                if (index < 1 || index >= blocks.size() || blocks.get(index).parent != block.index) {
                    throw in.error(offset,
                            "attribute '" + attribute.name() + "' of operation '" + op.type() + "' names block " + index
                                    + ", but must name one whose parent is block " + block.index);
                }
            }
        }
    }

    private RawBlock block() throws IOException {
        RawBlock raw = new RawBlock();
        raw.offset = in.offset();
        WireReader.Keeping fields = in.new Keeping() {
            @Override
            public boolean read(int field) throws IOException {
                switch (field) {
                    case 1 -> raw.index = in.int32();
                    case 2 -> raw.parent = in.int32();
                    case 3 -> declare(raw);
                    case 4 -> {
                        raw.opOffsets.add(in.offset());
                        raw.ops.add(operation());
                    }
                    case 5 -> raw.forward = in.int32();
                    default -> {
                        return false;
                    }
                }
                return true;
            }

            @Override
            boolean keeps(int field) {
                return field < 1 || field > 4;
            }
        };
        in.message(fields);
        raw.rest = fields.kept();
        return raw;
    }

    private void declare(RawBlock block) throws IOException {
        int at = in.offset();
        VarDesc desc = variable();
        if (block.vars.putIfAbsent(desc.name(), desc) != null) {
            throw in.error(at, "variable '" + desc.name() + "' is declared twice in block " + block.index);
        }
    }

    private VarDesc variable() throws IOException {
        int at = in.offset();
        var raw = new Object() {
            String name = "";
            @Nullable
            VarType type;
            @Nullable
            Boolean persistable;
            @Nullable
            Boolean needCheckFeed;
            @Nullable
            Boolean isParameter;
            @Nullable
            Boolean stopGradient;
        };
        in.message(field -> {
            switch (field) {
                case 1 -> raw.name = in.text();
                case 2 -> raw.type = type();
                case 3 -> raw.persistable = in.bool();
                case 4 -> raw.needCheckFeed = in.bool();
                case 5 -> raw.isParameter = in.bool();
                case 6 -> raw.stopGradient = in.bool();
                default -> {
                    return false;
                }
            }
            return true;
        });
        ByteString content = in.content();
        VarType type = raw.type;
        if (raw.name.isEmpty() || type == null) {
            throw in.error(at,
                    raw.name.isEmpty() ? "a variable without name" : "variable '" + raw.name + "' has no type");
        }
        VarDesc desc;
        try {
            desc = new VarDesc(raw.name, type, raw.persistable, raw.needCheckFeed, raw.isParameter, raw.stopGradient);
        } catch (IllegalArgumentException e) {
            throw (IOException) in.error(at, String.valueOf(e.getMessage())).initCause(e);
        }
        return desc.with(Originals.of(content, ProgramWriter.variable(desc)));
    }

    private VarType type() throws IOException {
        int at = in.offset();
        var raw = new Object() {
            int kind = -1;
            VarType.@Nullable TensorType tensor;
            VarType.@Nullable Dense dense;
            VarType.@Nullable Dense array;
            final List<VarType.Dense> reader = new ArrayList<>();
        };
        in.message(field -> {
            switch (field) {
                case 1 -> raw.kind = in.int32();
                case 2 -> raw.tensor = tensor(in);
                case 3 -> raw.dense = lodTensor();
                case 4 -> raw.array = lodTensor();
                case 5 -> in.message(part -> {
                    if (part == 1) {
                        raw.reader.add(lodTensor());
                    }
                    return part == 1;
                });
                default -> {
                    return false;
                }
            }
            return true;
        });
        VarType.Dense dense = raw.dense;
        VarType.Dense array = raw.array;
        VarType.TensorType tensor = raw.tensor;
        return switch (raw.kind) {
            case VarType.DENSE -> dense != null ? dense : new VarType.Other(VarType.DENSE);
            case VarType.ROWS -> tensor != null ? new VarType.Rows(tensor, dense) : new VarType.Other(VarType.ROWS);
            case VarType.ARRAY ->
                array != null
                        ? new VarType.TensorArray(array.tensor(), array.lodLevel())
                        : new VarType.Other(VarType.ARRAY);
            case VarType.READER -> new VarType.Reader(raw.reader);
            case -1 -> throw in.error(at, "a variable's type without its number");
            default -> new VarType.Other(raw.kind);
        };
    }

    private VarType.Dense lodTensor() throws IOException {
        int at = in.offset();
        var raw = new Object() {
            VarType.@Nullable TensorType tensor;
            @Nullable
            Integer lodLevel;
        };
        in.message(field -> {
            switch (field) {
                case 1 -> raw.tensor = tensor(in);
                case 2 -> raw.lodLevel = in.int32();
                default -> {
                    return false;
                }
            }
            return true;
        });
        VarType.TensorType tensor = raw.tensor;
        if (tensor == null) {
            throw in.error(at, "a tensor without type and dimensions");
        }
        return new VarType.Dense(tensor, raw.lodLevel);
    }

    static VarType.TensorType tensor(WireReader in) throws IOException {
        int at = in.offset();
        int[] dataType = {-1};
        List<Long> dims = new ArrayList<>();
        in.message(field -> tensorField(in, field, dataType, dims));
        if (dataType[0] < 0) {
            throw in.error(at, "a tensor without the type of its elements");
        }
        return new VarType.TensorType(dataType[0], dims);
    }

    static boolean tensorField(WireReader in, int field, int[] dataType, List<Long> dims) throws IOException {
        switch (field) {
            case 1 -> dataType[0] = in.int32();
            case 2 -> in.repeated(WireFormat.WIRETYPE_VARINT, () -> dims.add(in.int64()));
            default -> {
                return false;
            }
        }
        return true;
    }

    private OpDesc operation() throws IOException {
        int at = in.offset();
        Map<String, List<String>> inputs = new LinkedHashMap<>();
        Map<String, List<String>> outputs = new LinkedHashMap<>();
        List<Attribute.Named> attributes = new ArrayList<>();
        var raw = new Object() {
            String type = "";
            @Nullable
            Boolean target;
        };
        in.message(field -> {
            switch (field) {
                case 1 -> slot(inputs);
                case 2 -> slot(outputs);
                case 3 -> raw.type = in.text();
                case 4 -> attributes.add(AttributeCodec.read(in));
                case 5 -> raw.target = in.bool();
                default -> {
                    return false;
                }
            }
            return true;
        });
        ByteString content = in.content();
        if (raw.type.isEmpty()) {
            throw in.error(at, "an operation without type");
        }
        OpDesc op = new OpDesc(raw.type, inputs, outputs, attributes, raw.target);
        return op.with(Originals.of(content, ProgramWriter.operation(op)));
    }

    private void slot(Map<String, List<String>> slots) throws IOException {
        int at = in.offset();
        String[] slot = {""};
        List<String> names = new ArrayList<>();
        in.message(field -> {
            switch (field) {
                case 1 -> slot[0] = in.text();
                case 2 -> names.add(in.text());
                default -> {
                    return false;
                }
            }
            return true;
        });
        if (slots.put(slot[0], names) != null) {
            throw in.error(at, "the slot '" + slot[0] + "' occurs twice in an operation");
        }
    }
}
