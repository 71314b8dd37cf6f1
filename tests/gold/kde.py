"""Prints tests/gold/kde.txt: densities of statsmodels' KDEMultivariate by its normal reference
rule, on nine points of two numbers and two categories (3 and 2 levels), at the points
themselves and at five others. pip install statsmodels. Use: python3 kde.py > kde.txt"""
import numpy as np
import statsmodels.api as sm

x = np.array([[((7 * i + 3) % 11) / 11, (i * i % 13) / 13, i % 3, i % 2] for i in range(9)], float)
at = np.array([[(i + .5) / 5, 1 - i / 6, i % 3, (i + 1) % 2] for i in range(5)])
kde = sm.nonparametric.KDEMultivariate(data=x, var_type="ccuu", bw="normal_reference")
# statsmodels takes the number of levels from the data; its widths of categories are as they come
kde.bw = np.minimum(kde.bw, [np.inf, np.inf, 2 / 3, 1 / 2])
for row in np.vstack([x, at]):
    print(*("%.17g" % v for v in row), "%.15g" % kde.pdf(row))
