// One kernel and the Python functions that reach it, in one file.
//
// The module is C API only, so that it needs neither torch nor numpy:
// importing it proves that the HIP runtime library was found, and calling it
// without a GPU proves that the runtime answers with an error, not a crash.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <hip/hip_runtime.h>

#include <cstddef>
#include <vector>

namespace {

constexpr unsigned THREADS_PER_BLOCK = 256;

__global__ void add_kernel(const float *left, const float *right, float *sum, size_t length) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < length) {
        sum[i] = left[i] + right[i];
    }
}

// Device memory that is freed on every way out.
class DeviceFloats {
  public:
    explicit DeviceFloats(size_t length) {
        status_ = hipMalloc(reinterpret_cast<void **>(&data_), length * sizeof(float));
    }
    ~DeviceFloats() {
        if (data_ != nullptr) {
            (void)hipFree(data_);
        }
    }
    DeviceFloats(const DeviceFloats &) = delete;
    DeviceFloats &operator=(const DeviceFloats &) = delete;

    float *data() const { return data_; }
    hipError_t status() const { return status_; }

  private:
    float *data_ = nullptr;
    hipError_t status_ = hipSuccess;
};

hipError_t add_on_device(const std::vector<float> &left, const std::vector<float> &right,
                         std::vector<float> &sum) {
    const size_t length = left.size();
    const size_t bytes = length * sizeof(float);
    DeviceFloats a(length), b(length), c(length);
    for (hipError_t status : {a.status(), b.status(), c.status()}) {
        if (status != hipSuccess) {
            return status;
        }
    }
    hipError_t status = hipMemcpy(a.data(), left.data(), bytes, hipMemcpyHostToDevice);
    if (status == hipSuccess) {
        status = hipMemcpy(b.data(), right.data(), bytes, hipMemcpyHostToDevice);
    }
    if (status != hipSuccess) {
        return status;
    }
    const unsigned blocks =
        static_cast<unsigned>((length + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK);
    add_kernel<<<blocks, THREADS_PER_BLOCK>>>(a.data(), b.data(), c.data(), length);
    status = hipGetLastError();
    // This copy waits for the kernel: both are on the default stream.
    return status == hipSuccess ? hipMemcpy(sum.data(), c.data(), bytes, hipMemcpyDeviceToHost)
                                : status;
}

PyObject *raise_hip_error(hipError_t status) {
    return PyErr_Format(PyExc_RuntimeError, "%s: %s", hipGetErrorName(status),
                        hipGetErrorString(status));
}

bool read_floats(PyObject *object, std::vector<float> &floats) {
    PyObject *items = PySequence_Fast(object, "expected a sequence of numbers");
    if (items == nullptr) {
        return false;
    }
    const Py_ssize_t length = PySequence_Fast_GET_SIZE(items);
    floats.reserve(static_cast<size_t>(length));
    for (Py_ssize_t i = 0; i < length; ++i) {
        const double value = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(items, i));
        if (value == -1.0 && PyErr_Occurred() != nullptr) {
            Py_DECREF(items);
            return false;
        }
        floats.push_back(static_cast<float>(value));
    }
    Py_DECREF(items);
    return true;
}

PyObject *device_count(PyObject *, PyObject *) {
    int count = 0;
    const hipError_t status = hipGetDeviceCount(&count);
    return status == hipSuccess ? PyLong_FromLong(count) : raise_hip_error(status);
}

PyObject *add(PyObject *, PyObject *args) {
    PyObject *left_object = nullptr;
    PyObject *right_object = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &left_object, &right_object)) {
        return nullptr;
    }
    std::vector<float> left, right;
    if (!read_floats(left_object, left) || !read_floats(right_object, right)) {
        return nullptr;
    }
    if (left.size() != right.size()) {
        return PyErr_Format(PyExc_ValueError, "the lengths differ: %zu and %zu", left.size(),
                            right.size());
    }
    std::vector<float> sum(left.size());
    if (!left.empty()) {
        const hipError_t status = add_on_device(left, right, sum);
        if (status != hipSuccess) {
            return raise_hip_error(status);
        }
    }
    PyObject *result = PyList_New(static_cast<Py_ssize_t>(sum.size()));
    for (size_t i = 0; result != nullptr && i < sum.size(); ++i) {
        PyObject *value = PyFloat_FromDouble(sum[i]);
        if (value == nullptr) {
            Py_CLEAR(result);
            break;
        }
        PyList_SET_ITEM(result, static_cast<Py_ssize_t>(i), value);
    }
    return result;
}

PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "add(left, right)\n--\n\nThe sums of two sequences, computed on the GPU."},
    {"device_count", device_count, METH_NOARGS, "device_count()\n--\n\nThe number of HIP devices."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_vecadd", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr,
};

} // namespace

PyMODINIT_FUNC PyInit__vecadd(void) { return PyModule_Create(&module); }
