"""What NumPy computes from all pairs of special numbers, in all types of elements: numpy_cases.py OUTPUT."""
import sys

import numpy as np

FLOATS = ("float16", "float32", "float64")
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
BINARY = {"ADD": np.add, "SUBTRACT": np.subtract, "MULTIPLY": np.multiply, "MAXIMUM": np.maximum,
          "MINIMUM": np.minimum, "EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less,
          "LESS_EQUAL": np.less_equal, "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal}
DIVISIONS = {"MODULO": np.remainder, "REMAINDER": np.fmod, "FLOOR_DIVIDE": np.floor_divide}
OF_FLOATS = {"DIVIDE": np.divide, "POWER": np.power}
OF_WHOLE = {"BITWISE_AND": np.bitwise_and, "BITWISE_OR": np.bitwise_or, "BITWISE_XOR": np.bitwise_xor}
UNARY = {"ABS": np.abs, "EXP": np.exp, "LOG": np.log, "SQRT": np.sqrt, "SQUARE": np.square,
         "RECIPROCAL": np.reciprocal, "NEGATE": np.negative, "SIN": np.sin, "COS": np.cos, "TANH": np.tanh,
         "FLOOR": np.floor, "CEIL": np.ceil, "ROUND": np.rint, "SIGN": np.sign, "IS_NAN": np.isnan,
         "IS_INF": np.isinf, "IS_FINITE": np.isfinite, "LOGICAL_NOT": np.logical_not}
OF_WHOLE_UNARY = ("ABS", "SQUARE", "NEGATE", "SIGN", "LOGICAL_NOT")
REDUCTIONS = {"SUM": np.sum, "PRODUCT": np.prod, "MAX": np.max, "MIN": np.min, "MEAN": np.mean}


def numbers(dtype):
    if dtype in FLOATS:
        info = np.finfo(dtype)
        return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal,
                         info.tiny, info.max, -info.max, 1, -1, 0.5, -2.5, 3], dtype)
    info = np.iinfo(dtype)
    return np.array(sorted({info.min, info.max, info.max - 1, max(info.min, -1), max(info.min, -3), 0, 1, 2, 3}), dtype)


def main(output):
    np.seterr(all="ignore")
    results = {}
    for dtype in FLOATS + WHOLE:
        floating = dtype in FLOATS
        all_numbers = numbers(dtype)
        results[f"x/{dtype}"] = all_numbers
        x, y = np.meshgrid(all_numbers, all_numbers, indexing="ij")
        for name, function in {**BINARY, **(OF_FLOATS if floating else OF_WHOLE)}.items():
            results[f"binary/{name}/{dtype}"] = function(x, y)
        for name, function in DIVISIONS.items():
            divisors = y if floating else np.where(y == 0, y.dtype.type(1), y)
            results[f"binary/{name}/{dtype}"] = function(x, divisors)
        for name, function in UNARY.items():
            if floating or name in OF_WHOLE_UNARY:
                results[f"unary/{name}/{dtype}"] = function(all_numbers)
        for name, function in REDUCTIONS.items():
            if floating or name != "MEAN":
                for what, rows in (("pairs", np.stack([x.ravel(), y.ravel()], 1)), ("one", x[:, :1])):
                    results[f"reduction/{name}/{dtype}/{what}"] = function(rows, axis=1, dtype=dtype) \
                        if name in ("SUM", "PRODUCT", "MEAN") else function(rows, axis=1)
        for name in ("SUM", "PRODUCT", "MEAN") if floating else ("SUM", "PRODUCT"):
            results[f"reduction/{name}/{dtype}/none"] = REDUCTIONS[name](np.zeros((2, 0), dtype), axis=1, dtype=dtype)
        rows = np.stack([np.roll(all_numbers, i) for i in range(len(all_numbers))])
        results[f"rows/{dtype}"] = rows
        results[f"order/ARGMAX/{dtype}"] = np.argmax(rows, 1)
        results[f"order/ARGMIN/{dtype}"] = np.argmin(rows, 1)
        results[f"order/SORT/{dtype}"] = np.argsort(rows, 1, kind="stable")
        results[f"order/CUMSUM/{dtype}"] = np.cumsum(rows, 1, dtype=dtype)
    with open(output, "wb") as file:
        np.savez_compressed(file, **results)
    print(len(results), "arrays")


if __name__ == "__main__":
    main(*sys.argv[1:])
