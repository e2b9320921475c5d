"""Makes graph/src/test/resources/golden/registry.txt: the forward operations of PaddlePaddle 2.6.2 that programs for processors of the host are made
of, one a line. It is frozen: CoverageTest counts which of them are known. Left out are the operations that GROUPS names. Run from the root of the
repository: `python tools/golden/coverage.py`.
"""
import re
from pathlib import Path

import paddle
from paddle.base.framework import get_all_op_protos

OUTPUT = Path("graph/src/test/resources/golden/registry.txt")

# Why operations are left out, and which: regular expressions that match whole names.
GROUPS = {
    "kernels of other processors and of one library only": """.*_xpu npu_identity cudnn_lstm alloc_float_status clear_float_status get_float_status
        quantize dequantize requantize multi_gru decode_jpeg read_file""",
    "sparse tensors, and rows of them": "sparse_.* get_tensor_from_selected_rows merge_selected_rows",
    "communication": """c_.* (all_gather|all_reduce|all_to_all|alltoall|barrier|broadcast|reduce|reduce_scatter|dist_concat) mp_allreduce_sum
        partial_(allgather|recv|send) (send|recv)_v2 send_and_recv global_(gather|scatter) dgc_.* nop depend""",
    "experts that are spread over processes": "assign_pos limit_by_capacity moe number_count prune_gate_by_capacity random_routing",
    "parameter servers and their models": """(pull|push)_.* distributed_.* (heter_)?listen_and_serv send fetch_barrier send_barrier fake_init
        copy_cross_scope batch_fc cvm hash lookup_table_dequant match_matrix_tensor partial_(concat|sum) pow2_decay_with_linear_warmup pyramid_hash
        rank_attention shuffle_batch tdm_.* var_conv_2d""",
    "fusions that PaddlePaddle's passes generate, and kernels of large language models": """fus(ed|ion)_.* attention_lstm block_multihead_attention
        flash_attn.* masked_multihead_attention (memory_efficient|variable_length_memory_efficient)_attention llm_int8_linear
        weight_(dequantize|only_linear|quantize)""",
    "graphs as data": "graph_.* weighted_sample_neighbors",
    "primitives of its compiler": ".*_p full_int_array shadow_output data",
    "readers, queues and code of the caller": """create_(double_buffer|py)_reader dequeue enqueue queue_generator get_places py_func pylayer
        run_program faster_tokenizer delete_var conditional_block_infer""",
    "what an executor does around a program: feeds, files, copies between places": """feed fetch fetch_v2 load load_combine save save_combine memcpy
        memcpy_d2h memcpy_h2d transfer_dtype transfer_layout coalesce_tensor""",
}
COUNT = 498


def main():
    paddle.enable_static()
    names = sorted(proto.type for proto in get_all_op_protos())
    patterns = [pattern for group in GROUPS.values() for pattern in group.split()]
    unused = [p for p in patterns if not any(re.fullmatch(p, name) for name in names)]
    if unused:
        raise SystemExit(f"no operation has the name {unused}")
    kept = [name for name in names if not any(re.fullmatch(p, name) for p in patterns)]
    if len(kept) != COUNT:
        raise SystemExit(f"there are {len(kept)} operations instead of {COUNT}")
    OUTPUT.write_text("\n".join(kept) + "\n")
    print(f"{len(kept)} of {len(names)} operations")


if __name__ == "__main__":
    main()
