package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A training program that runs on several places at once, each with a part of the batch. It is a program like any
 * other: what says where an operation runs is its attribute {@code op_device}, and the executor brings what has to be
 * elsewhere there.
 *
 * <p>
 * Forward and backward are there once for each place. As soon as the last backward operation of a gradient is done
 * everywhere, the gradient's owner takes the sum, in the order of the places, and divides it by their number; every
 * place gets the mean, and updates its own parameters with it. All places have begun with the same parameters, so these
 * stay equal to the bit. Owners are chosen so that each place has about as many bytes of gradients as any other.
 *
 * <p>
 * The variables of the first place keep their names. Those of another one have its name behind them,
 * {@code fc_0.w_0@sim:1}; a place that occurs a second time is {@code @cpu#2}. In names of gradients it comes before
 * their suffix, {@code fc_0.w_0@sim:1@GRAD}, unless the place shares the variable, {@code fc_0.w_0@GRAD@cpu#2}.
 * Occurrences of one place share
 * parameters and one optimizer, so that {@code cpu} twice trains two halves of a batch side by side on two threads.
 * After a run the parameters are in the scope under their own names: evaluation, saving and checkpoints need not know.
 *
 * <ul>
 * <li>The loss should be a mean over rows, as every loss of {@code Graph} with {@code .mean()} is: the result is then
 * that of one place with the whole batch, but for rounding.</li>
 * <li>Batch normalisation takes the statistics of each place's rows; its running statistics are those of the first
 * one. {@code ofRank(0, 1, Exchange.PLAIN.syncBatchNorm(true))} is the program that takes those of all rows.</li>
 * <li>Branches and loops are there once for each place, too, with blocks of their own: each place decides by its own
 * rows.</li>
 * <li>Random operations draw other numbers at each place, the same in each training.</li>
 * <li>Variables that outlive runs and have one element are shared if the program only reads them, as learning rates
 * are: they are set under their own names. What forward or backward writes, each replica has its own.</li>
 * </ul>
 *
 * @param main
 *            one step on all places
 * @param startup
 *            sets the parameters of the first place, and copies them to the others
 * @param broadcast
 *            copies what outlives runs from the first place to the others: to be run after it was set from outside, as
 *            from a checkpoint
 * @param places
 *            one for each replica
 * @param feeds
 *            what is fed to each replica, in the order of the original feeds; a feed that is not split is given
 *            whole to each, and has one name for all whose variable it is
 * @param loss
 *            the mean of the losses
 * @param fetches
 *            in place of each original fetch, what stands for it: the mean of floating values of a fixed shape, the sum
 *            of whole ones, all rows of what has a row for each of the batch
 * @param rank
 *            the number of the process that runs the program; 0 if it is alone
 * @param ranks
 *            how many processes run it together, see {@link #ofRank}
 * @param owners
 *            of each variable of the optimizer's state that one rank keeps for all, that rank; empty unless the state
 *            is {@linkplain Exchange#sharded sharded}. Other ranks may remove
 *            it from their scopes when {@link #startup} or {@link #broadcast} has run
 * @param gather
 *            brings such state of the first place to rank 0, as for a checkpoint: to be run by all ranks
 */
public record DataParallel(Program main, Program startup, Program broadcast, List<Place> places,
        List<List<String>> feeds, String loss,
        List<String> fetches, int rank, int ranks, Map<String, Integer> owners, Program gather) {
    /** Copies the lists. */
    public DataParallel {
        places = List.copyOf(places);
        feeds = feeds.stream().map(List::copyOf).toList();
        fetches = List.copyOf(fetches);
        owners = Collections.unmodifiableMap(new TreeMap<>(owners));
    }

    /**
     * Makes a program for several places of one for a single place.
     *
     * @param main
     *            one step, with the roles of its operations ({@code op_role}); not changed
     * @param startup
     *            sets its parameters; not changed
     * @param feeds
     *            what is fed; those whose first dimension is open (−1) are split by rows, others given whole to each
     *            place
     * @param loss
     *            a variable of one element, a mean over the rows
     * @param fetches
     *            what is wanted of each step, the loss too if it is
     * @param places
     *            one or more; one that occurs several times has several replicas
     * @return the program for all
     * @throws IllegalArgumentException
     *             if the program has operations that read from readers, communicate or are placed elsewhere, or that
     *             update parameters in a branch or loop of forward, if it updates nothing, or if no feed can be split
     */
    public static DataParallel of(Program main, Program startup, List<String> feeds, String loss, List<String> fetches,
            List<Place> places) {
        return new Replication(main, startup, feeds, loss, fetches, places).result();
    }

    /**
     * Makes the program of one of several processes that train together, each with its rows of the batch and on all of
     * these places. An executor with a communicator of as many ranks runs it.
     *
     * <p>
     * What the optimizer is given is averaged over all ranks by {@code c_allreduce_sum}, in buckets of some hundred
     * kilobytes, each as soon as backward has computed it. All ranks get the same bits; {@link #startup} and
     * {@link #broadcast} copy what outlives runs from rank 0, and so parameters stay equal to the bit. The loss and the
     * fetches are those of all ranks, as they are those of all places.
     *
     * <p>
     * Random operations draw other numbers on each rank, those of rank 0 being those of a process alone; the same in
     * each training with as many ranks. Batch normalisation takes the statistics of each rank's rows, and its running
     * statistics differ: those of rank 0 count. {@link Exchange#syncBatchNorm} changes that.
     *
     * @param process
     *            the number of this process
     * @param processes
     *            how many there are
     * @return the program of that rank; this one if it is alone
     * @throws IllegalArgumentException
     *             if there is no such rank, this is the program of a rank already, or something that the optimizer is
     *             given is not dense
     */
    public DataParallel ofRank(int process, int processes) {
        return ofRank(process, processes, Exchange.PLAIN);
    }

    /**
     * Makes the program of one of several processes, as {@link #ofRank(int, int)} does, with another exchange of
     * gradients.
     *
     * @param process
     *            the number of this process
     * @param processes
     *            how many there are
     * @param exchange
     *            the same on all
     * @return the program of that rank; this one if it is alone, and has one place or no normalisation over all places
     *         is wanted
     * @throws IllegalArgumentException
     *             as for {@link #ofRank(int, int)}, or if normalisation over all ranks is wanted of a program with a
     *             second gradient of it, or with one in a branch or loop
     */
    public DataParallel ofRank(int process, int processes, Exchange exchange) {
        return new RankReplication(this, process, processes, exchange).result();
    }

    /**
     * The names of all feeds, without repeats: those of the first replica, those of the second, and so on.
     *
     * @return in the order of {@link #split}
     */
    public List<String> feedNames() {
        LinkedHashSet<String> names = new LinkedHashSet<>();
        feeds.forEach(names::addAll);
        return List.copyOf(names);
    }

    /**
     * Splits a batch by rows. Feeds whose first dimension is declared are not split: each place gets the whole.
     *
     * @param batch
     *            a tensor for each original feed, in order, with the rows of all ranks
     * @return one for each of {@link #feedNames}; views of the batch, which must not be closed before they have been
     * used
     * @throws IllegalArgumentException
     *             if there are more or fewer, or if the rows of one cannot be divided by the number of replicas of
     *             all ranks
     */
    public Tensor[] split(Tensor... batch) {
        List<String> original = feeds.getFirst();
        if (batch.length != original.size()) {
            throw new IllegalArgumentException(
                    "The feeds are " + original + ", but there are " + batch.length + " tensors to split");
        }
        List<Tensor> parts = new ArrayList<>();
        Set<String> given = new HashSet<>();
        for (int replica = 0; replica < places.size(); replica++) {
            for (int i = 0; i < batch.length; i++) {
                if (given.add(feeds.get(replica).get(i))) {
                    parts.add(isSplit(main.global().get(original.get(i)))
                            ? rows(original.get(i), batch[i], replica)
                            : batch[i]);
                }
            }
        }
        return parts.toArray(Tensor[]::new);
    }

    /** Whether each replica gets some rows of a feed. Of other feeds each gets the whole. */
    static boolean isSplit(VarDesc feed) {
        List<Long> dims = feed.tensor().dims();
        return !dims.isEmpty() && dims.getFirst() < 0;
    }

    private Tensor rows(String feed, Tensor tensor, int replica) {
        int count = Math.multiplyExact(places.size(), ranks);
        String among = ranks == 1
                ? count + " places"
                : ranks + " ranks" + (places.size() == 1 ? "" : " with " + places.size() + " places each");
        if (tensor.shape().rank() == 0 || tensor.shape().dim(0) % count != 0 || tensor.shape().dim(0) == 0) {
            throw new IllegalArgumentException(
                    "The rows of a batch are split evenly among " + among + ", but feed '" + feed + "' is "
                            + tensor.spec() + "; choose a batch size that " + count
                            + " divides, and leave the rest of an epoch out");
        }
        long each = tensor.shape().dim(0) / count;
        long part = (long) rank * places.size() + replica;
        return tensor.slice(0, part * each, (part + 1) * each);
    }
}
