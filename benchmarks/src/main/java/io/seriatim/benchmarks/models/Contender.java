package io.seriatim.benchmarks.models;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.tensor.Tensor;
import java.util.List;

/** A system with a loaded model. */
interface Contender {
    /** Returns the name in tables. */
    String name();

    /** Runs for at least some time and returns the median time in milliseconds. */
    double warm(double seconds) throws PeerUnavailableException;

    /** Returns the median time of some runs in milliseconds. */
    double run(int times) throws PeerUnavailableException;

    /** Returns the outputs of a run, which belong to the caller. */
    List<Tensor> results() throws PeerUnavailableException;
}
