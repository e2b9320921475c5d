package io.seriatim.executor;

import io.seriatim.graph.Block;
import io.seriatim.graph.BlockSession;
import io.seriatim.graph.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** What the interpreter does of a run: operations whose shapes only the run knows, and instructions. It is given the values by name, and gives back what it has written. One operation at a time. */
final class Interpretation {
    private final ValueTable values;
    private final Frame frame;

    Interpretation(Specialisation plan, Frame frame) {
        this.values = plan.values();
        this.frame = frame;
    }

    synchronized void run(int index, Task.Interpreted task) throws Exception {
        Access access = task.access();
        if (access.op().type().equals(ReadInstruction.TYPE)) {
            read(task);
            return;
        }
        BlockSession session = frame.context().sessions().get();
        List<Tensor> given = new ArrayList<>();
        for (int i = 0; i < access.reads().length; i++) {
            Object value = frame.value(task.reads()[i]);
            if (value != null) {
                // Constants serve all runs, and the interpreter may change in place what it is given.
                boolean constant = values.constant(task.reads()[i]) != null;
                Object give = constant ? Copies.to(frame.host(), (Tensor) value) : value;
                session.set(values.name(access.reads()[i]), give);
                if (give instanceof Tensor tensor && !constant) {
                    // Lists and inner blocks hand it to other threads.
                    tensor.buffer().settle();
                    given.add(tensor);
                }
            }
        }
        Recording recording = frame.context().recording();
        if (recording == null) {
            session.run(access.index());
        } else {
            recording.inside(frame.log(), index, () -> session.run(access.index()));
        }
        for (int i = 0; i < access.writes().length; i++) {
            String name = values.name(access.writes()[i]);
            Object value = session.find(name);
            if (value != null) {
                take(task, i, value, given);
            }
        }
        for (int value : access.reads()) {
            remove(session, values.name(value));
        }
        for (int value : access.writes()) {
            remove(session, values.name(value));
        }
    }

    /** What the block declares is known to the frame; what is around it stays. */
    private static void remove(BlockSession session, String name) {
        VarDesc desc = session.block().var(name);
        if (session.block().index() == 0 || (desc != null && !desc.isPersistable())) {
            session.remove(name);
        }
    }

    /** In the block of a loop: what the first block reads was read before the run. */
    private void read(Task.Interpreted task) throws Exception {
        Access access = task.access();
        Block block = frame.context().sessions().get().block();
        int reader = access.read(access.op().input("Reader").getFirst());
        List<Tensor> batch = ReadInstruction.next(access.op(), block, frame.value(reader));
        List<String> outputs = access.op().output("Out");
        for (int i = 0; i < access.writes().length; i++) {
            frame.value(task.writes()[i], batch.get(outputs.indexOf(values.name(access.writes()[i]))));
        }
    }

    private void take(Task.Interpreted task, int index, Object value, List<Tensor> given) {
        int number = task.access().writes()[index];
        String name = values.name(number);
        boolean changed = task.access().read(name) >= 0;
        Object own = value;
        // A gradient that only passes through is the memory of what came in.
        if (value instanceof Tensor tensor && !changed
                && (frame.isInArena(tensor) || given.stream().anyMatch(each -> each.buffer() == tensor.buffer()))) {
            own = Copies.to(frame.host(), tensor);
        }
        int target = task.writes()[index];
        frame.value(target, own);
        // What lives on a device gets it by a transfer.
        if (target == number && values.isPersistable(number)) {
            frame.context().bindings().set(name, own);
        }
    }
}
