package io.seriatim.graph.format;

import io.seriatim.device.Place;
import io.seriatim.graph.dialect.TypesOfPaddle;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes Paddle's streams of tensors and selected rows. */
final class TensorWriter {
    private static final int CHUNK = 1 << 16;
    private final OutputStream out;

    TensorWriter(OutputStream out) {
        this.out = out;
    }

    void lodTensor(TensorStreams.LodTensor value) throws IOException {
        int32(0);
        int64(value.lod().size());
        for (long[] level : value.lod()) {
            int64((long) level.length * Long.BYTES);
            for (long offset : level) {
                int64(offset);
            }
        }
        tensor(value.tensor());
    }

    void rows(SelectedRows value) throws IOException {
        int32(0);
        int64(value.rows().shape().dim(0));
        data(value.rows());
        int64(value.height());
        tensor(value.values());
    }

    private void tensor(Tensor tensor) throws IOException {
        TypesOfPaddle.require(tensor.dtype());
        int32(0);
        WireWriter description = new WireWriter();
        ProgramWriter.tensor(description, VarType.TensorType.of(tensor.dtype(), tensor.shape().dims()));
        byte[] bytes = description.toBytes().toByteArray();
        int32(bytes.length);
        out.write(bytes);
        data(tensor);
    }

    private void data(Tensor tensor) throws IOException {
        if (!tensor.place().equals(Place.CPU)) {
            throw new IllegalArgumentException(
                    "Only tensors of the host can be written, but this one is at " + tensor.place()
                            + ": copy it to the host first");
        }
        if (!tensor.spec().isRowMajor()) {
            try (Tensor dense = dense(tensor)) {
                data(dense);
            }
            return;
        }
        long bytes = tensor.spec().bytes();
        tensor.buffer().hostCheck("write a tensor to a file", tensor.offset(), bytes, false);
        MemorySegment memory = tensor.buffer().declared().segment().asSlice(tensor.offset(), bytes);
        byte[] chunk = new byte[(int) Math.min(CHUNK, bytes)];
        try {
            for (long at = 0; at < bytes; at += chunk.length) {
                int count = (int) Math.min(chunk.length, bytes - at);
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, chunk, 0, count);
                out.write(chunk, 0, count);
            }
        } finally {
            Reference.reachabilityFence(tensor);
        }
    }

    private static Tensor dense(Tensor view) {
        TensorSpec spec = view.spec().rowMajor();
        Tensor copy = Tensor.allocate(view.buffer().device(), spec);
        try (Kernel kernel = Kernels.system().prepare(Copy.PLAIN, Place.CPU, view.spec(), spec)) {
            kernel.run(new Tensor[]{view, copy}, KernelContext.current());
        }
        return copy;
    }

    private void int32(int value) throws IOException {
        out.write(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }

    private void int64(long value) throws IOException {
        out.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }
}
