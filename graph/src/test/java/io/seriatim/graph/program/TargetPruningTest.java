package io.seriatim.graph.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The operations that pruning keeps for some targets. The tests of inference models compare the pruning of whole
 * networks and of control flow with Paddle.
 */
class TargetPruningTest {
    private final Program program = new Program();

    private Block declare(Block block, String... names) {
        for (String name : names) {
            VarDesc desc = VarDesc.of(name, VarType.dense(DType.FLOAT32, 2));
            block.put(name.startsWith("w") ? desc.persistent() : desc);
        }
        return block;
    }

    private static OpDesc op(String type, String in, String out) {
        return OpDesc.of(type).in("X", in.isEmpty() ? new String[0] : in.split(" ", -1)).out("Out", out)
                .attr("op_role", 0).build();
    }

    private static List<String> types(Block block) {
        return block.ops().stream().map(OpDesc::type).toList();
    }

    private static List<String> vars(Block block) {
        return block.vars().stream().map(VarDesc::name).toList();
    }

    @Test
    void keepsWhatIsNeededInOrder() {
        declare(program.global(), "x", "w", "b", "a", "unused").add(op("first", "x w", "a"))
                .add(op("dead", "a", "unused"))
                .add(op("second", "a", "b"));
        Program pruned = program.prune(List.of("x"), List.of("b"));
        assertEquals(List.of("first", "second"), types(pruned.global()));
        assertEquals(List.of("a", "b", "w", "x"), vars(pruned.global()));
        assertEquals(3, program.global().ops().size(), "the program itself stays");
    }

    @Test
    void feedsReplaceTheirProducers() {
        declare(program.global(), "x", "w", "a", "b").add(op("first", "x w", "a")).add(op("second", "a", "b"));
        assertEquals(List.of("second"), types(program.prune(List.of("a"), List.of("b")).global()));
        assertEquals(List.of(), types(program.prune(List.of("a"), List.of("a")).global()));
        assertEquals(List.of("a"), vars(program.prune(List.of("a"), List.of("a")).global()));
        assertEquals(List.of("first"), types(program.prune(List.of("x"), List.of("a")).global()));
    }

    @Test
    void feedsThatAreChangedInPlaceAreProduced() {
        declare(program.global(), "x", "w").add(op("increment", "x", "x"));
        assertEquals(List.of("increment"), types(program.prune(List.of("x"), List.of("x")).global()));
    }

    /** A feed is the first value of a variable: operations that overwrite it are needed by what reads it later. */
    @Test
    void feedsThatAreOverwrittenBeforeTheyAreReadAreProduced() {
        declare(program.global(), "x", "w", "a", "b", "c").add(op("first", "x", "a")).add(op("increment", "x", "x"))
                .add(op("assign", "x w", "a")).add(op("increment", "a", "a")).add(op("last", "a", "b"))
                .add(op("later", "b", "a"));
        assertEquals(List.of("first", "increment", "assign", "increment", "last"),
                types(program.prune(List.of("x"), List.of("b")).global()), "earlier writers of a variable stay");
        assertEquals(List.of("first", "increment", "assign", "increment", "last"),
                types(program.prune(List.of("x", "a"), List.of("b")).global()),
                "they can run, so a feed is overwritten");
        assertEquals(List.of("increment", "last"), types(program.prune(List.of("a"), List.of("b")).global()),
                "they cannot run without x, so the feed takes their place");
        assertEquals(List.of("last", "later"), types(program.prune(List.of("a"), List.of("a")).global()).subList(1, 3));
    }

    /** What the operations feed and read write is what a run is given. */
    @Test
    void feedsReplaceOperationsThatFeed() {
        declare(program.global(), "w", "x", "b").add(op("feed", "w", "x")).add(op("read", "w", "x"))
                .add(op("last", "x", "b"));
        assertEquals(List.of("last"), types(program.prune(List.of("x"), List.of("b")).global()));
        assertEquals(List.of("feed", "read", "last"), types(program.prune(List.of(), List.of("b")).global()));
    }

    @Test
    void blocksWriteWhatIsFed() {
        declare(program.global(), "x", "y", "w", "b");
        Block body = declare(program.addBlock(0, null), "y");
        body.add(op("own", "x", "y")).add(op("step", "y", "x")).add(op("reader", "x", "b"));
        program.global().add(loop(body, "x", "b")).add(op("last", "x", "b"));
        Program pruned = program.prune(List.of("x", "y"), List.of("b"));
        assertEquals(List.of("while", "last"), types(pruned.global()), "the block writes x without saying so");
        assertEquals(List.of("own", "step", "reader"), types(pruned.block(1)), "its y is a variable of its own");
    }

    @Test
    void onlyTheLastWriterOfATargetCounts() {
        declare(program.global(), "x", "a").add(op("first", "x", "a")).add(op("second", "x", "a"));
        assertEquals(List.of("second"), types(program.prune(List.of("x"), List.of("a")).global()));
    }

    /** A parameter that is read does not need its update; but a target that only an update writes is an error. */
    @Test
    void leavesUpdatesOut() {
        OpDesc update = op("sgd", "w", "w").with("op_role", Roles.OPTIMIZE);
        declare(program.global(), "x", "w", "a", "c").add(op("first", "x w", "a")).add(update)
                .add(op("other", "", "c").with("op_role", Roles.OPTIMIZE));
        assertEquals(List.of("first"), types(program.prune(List.of("x"), List.of("a")).global()));
        assertEquals(List.of(), types(program.prune(List.of("x"), List.of("w")).global()));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> program.prune(List.of("x"), List.of("c")));
        assertEquals("Nothing produces target 'c': feed it, or choose another", e.getMessage());
    }

    private OpDesc loop(Block body, String in, String out) {
        return OpDesc.of("while").in("X", in.split(" ", -1)).out("Out", out).attr("sub_block", body).attr("op_role", 0)
                .build();
    }

    @Test
    void numbersBlocksAnewAndPrunesThem() {
        declare(program.global(), "x", "w", "w2", "a", "b", "unused");
        Block dead = program.addBlock(0, null);
        dead.add(op("dead", "x", "unused"));
        Block body = declare(program.addBlock(0, null), "local", "waste");
        Block inner = program.addBlock(body.index(), null);
        inner.add(op("inner", "w2 local", "b"));
        body.add(op("local", "x", "local")).add(op("wasted", "local", "waste")).add(loop(inner, "local", "b"));
        Block gradient = program.addBlock(0, body.index());
        gradient.add(op("gradient", "b", "a"));
        program.global().add(loop(dead, "x", "unused")).add(loop(body, "x", "b")).add(loop(gradient, "b", "a"));
        Program pruned = program.prune(List.of("x"), List.of("a"));
        assertEquals(4, pruned.blocks().size());
        assertEquals(List.of("a", "b", "w2", "x"), vars(pruned.global()),
                "what a block reads without saying so is kept too");
        assertEquals(List.of(new Attribute.BlockRef(1), new Attribute.BlockRef(3)),
                pruned.global().ops().stream().map(each -> each.attribute("sub_block")).toList());
        assertEquals(List.of("local", "while"), types(pruned.block(1)));
        assertEquals(List.of("local"), vars(pruned.block(1)));
        assertEquals(new Attribute.BlockRef(2), pruned.block(1).ops().get(1).attribute("sub_block"));
        assertEquals(1, pruned.block(2).parent());
        assertEquals(1, pruned.block(3).forward());
        assertEquals(Block.NONE, program.prune(List.of("b"), List.of("a")).block(1).forward(),
                "its forward block is not there any more");
    }

    @Test
    void refusesBlocksThatRunThemselves() {
        Block body = program.addBlock(0, null);
        declare(program.global(), "x", "a").add(loop(body, "x", "a"));
        body.add(loop(body, "x", "a"));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> program.prune(List.of("x"), List.of("a")));
        assertEquals("Block 1 runs itself, directly or through other blocks", e.getMessage());
    }

    @Test
    void twoOperationsMayShareABlock() {
        Block body = program.addBlock(0, null);
        body.add(op("one", "x", "a")).add(op("two", "x", "b"));
        declare(program.global(), "x", "a", "b", "c").add(loop(body, "x", "a")).add(loop(body, "x", "b"))
                .add(op("sum", "a b", "c"));
        Program pruned = program.prune(List.of("x"), List.of("c"));
        assertEquals(2, pruned.blocks().size());
        assertEquals(List.of("one", "two"), types(pruned.block(1)));
    }

    @Test
    void refusesTargetsThatAreNotThere() {
        assertThrows(IllegalArgumentException.class, () -> program.prune(List.of(), List.of("a")));
        declare(program.global(), "a");
        assertThrows(IllegalArgumentException.class, () -> program.prune(List.of(), List.of("a")));
    }
}
